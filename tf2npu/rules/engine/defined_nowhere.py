"""Names that nothing defines: Python ends with a NameError where a program comes to one."""

from __future__ import annotations

import builtins
import re
import symtable
import warnings

import libcst as cst

from tf2npu.frameworks.tensorflow1.scripts import uses_tensorflow
from tf2npu.rules import hooks
from tf2npu.rules.engine.forgotten_imports import import_missing, import_of
from tf2npu.rules.facts.files.project_names import may_be_given
from tf2npu.rules.facts.old_libraries import takes_part
from tf2npu.scanner.notebooks.path import is_notebook
from tf2npu.scanner.python2.constructs import GONE_BUILTINS, VERSION_TESTS
from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.script import Script
from tf2npu.scanner.sites import Site
from tf2npu.scanner.text.edits import Fix

RULE = "NPU995"
_OF_EVERY_MODULE = frozenset(("__name__", "__doc__", "__package__", "__spec__", "__loader__", "__builtins__", "__annotations__"))
_OF_FILES = frozenset(("__file__", "__path__", "__cached__", "exit", "quit", "copyright", "credits", "license"))
_OF_CLASSES = frozenset(("__class__", "__module__", "__qualname__", "__firstlineno__"))
_OF_NOTEBOOKS = frozenset(("get_ipython", "display", "In", "Out", "exit", "quit"))
_OF_PLATFORMS = frozenset(("WindowsError", "profile", "reveal_type"))
"""Names that Python has on another system, or that a profiler or a type checker gives."""
_GIVEN = (
    frozenset(dir(builtins)) | _OF_EVERY_MODULE | _OF_CLASSES | _OF_PLATFORMS | GONE_BUILTINS.keys()
)  # GONE_BUILTINS are told by NPU962
_OF_PYTHON2 = {
    "file": "open", "cmp": "(a > b) - (a < b)", "reload": "importlib.reload", "buffer": "memoryview", "intern": "sys.intern",
}  # fmt: skip
"""Built-in names that Python 2 alone has, and what is written for them in Python 3."""
_OPEN = re.compile(
    r"\b(?:exec|execfile|globals|locals)\s*\(|\bvars\(\s*\)|^\s*exec\s|\bbuiltins\b|__builtins?__|\bsys\.modules\b|gettext",
    re.MULTILINE,
)
"""Ways by which a name gets a meaning that no statement gives it."""
_OPEN_NOTEBOOK = re.compile(r"^\s*0#(?:un|ylab|tore|oad(?:py)?|capture)\b", re.MULTILINE)
"""Lines for IPython that may bind names, as the code of a notebook has them: `%run` is `0#un`."""
_NEWER = re.compile(r"^\s*(?:type\s+\w+.*=|(?:async\s+)?def\s+\w+\[|class\s+\w+\[)", re.MULTILINE)
"""Statements of Python 3.12 that bind names in scopes of their own."""
_CATCHING = frozenset(("NameError", "Exception", "BaseException", "StandardError"))
_BOUND_PER_UNDEFINED = 8
"""Names that a file binds for each that nothing defines: the files with one in 76 public repositories bind 14 to 149 of them, and
pieces of programs, as documents and questions show them, 5 at most."""
_NEVER = frozenset(("False", "0", "None"))
_ENDS = (cst.Raise, cst.ExceptHandler)
"""Statements to which a program comes when something has gone wrong before."""


@hooks.before_file
def may_hold_undefined_names(data: bytes) -> bool:
    """Whether Python's compiler finds a name in a file that nothing in it defines."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = symtable.symtable(data.decode(), "m", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # told elsewhere
        return False
    tables = [module]
    bound: set[str] = set()
    used: set[str] = set()
    for table in tables:  # which grows
        tables += table.get_children()
        for symbol in table.get_symbols():
            is_set = symbol.is_assigned() or symbol.is_imported()
            if is_set and (table is module or symbol.is_declared_global()):
                bound.add(symbol.get_name())
            elif symbol.is_referenced() and (symbol.is_global() or table is module):
                used.add(symbol.get_name())
    return not used <= bound | _GIVEN | _OF_FILES


@hooks.after_rules
def told_where_python_ends(script: Script, uses: object, fixes: list[Fix]) -> list[Fix]:
    """A finding for each place that uses a name which no scope, no import and no built-in defines."""
    if not script.config.is_enabled(RULE) or _is_open(script):
        return []
    found, undefined = [], _undefined(script)
    for node, scope, name in undefined if _is_whole(script, len({name for _, _, name in undefined})) else ():
        site = Site(script, RULE, node, scope)
        start = site.fix.site[0]
        site.fix.site = (start, start + len(name))
        if takes_part(site) and not _has_another_way(site) and not script.is_switched_off(RULE, node):
            found.append((site, name))
    places = {name: [site for site, other in found if other == name] for _, name in found}
    imported = {name for name, sites in places.items() if import_missing(script, name, sites)}
    for site, name in found:
        if name not in imported:
            _tell(site, name)
    return [site.fix for site, _ in found if site.fix.findings]


def _is_open(script: Script) -> bool:
    text = script.text
    is_open = _OPEN.search(text) is not None or _NEWER.search(text) is not None
    return is_open or (is_notebook(script.path) and _OPEN_NOTEBOOK.search(text) is not None)


def _is_whole(script: Script, n_undefined: int) -> bool:
    """Whether a file is one of a program that runs, and no piece of one: of a piece many names are nowhere."""
    bound = {name for scope in script.walked.scope_of.values() for name in scope.names}
    is_run = script.path in script.project.run or is_notebook(script.path)
    return is_run and len(bound) >= _BOUND_PER_UNDEFINED * n_undefined


def _undefined(script: Script) -> list[tuple[cst.BaseExpression, Scope, str]]:
    """The places of names that no scope has, in files where every name comes from a statement."""
    found = []
    in_notebook = is_notebook(script.path)
    given = _GIVEN | (_OF_NOTEBOOKS if in_notebook else _OF_FILES) | script.module_scope.names.keys()
    for name in sorted(script.referenced_names - given):
        places = [(node, scope, name) for node, scope in script.references_to(name) if not scope.lookup(name)]
        if places and not (in_notebook and set(name) == {"_"}) and not _may_come_by_star(script, name):
            found += places
    return found


def _may_come_by_star(script: Script, name: str) -> bool:
    stars = [star for scope in (script.module_scope, *script.walked.scope_of.values()) for star in scope.stars]
    return any(may_be_given(script.project, script.path, star.level, star.target, name) for star in stars)


def _has_another_way(site: Site) -> bool:
    """Whether a program does not come to a place, catches the NameError, or only a type checker reads it."""
    below: cst.CSTNode = site.node
    is_here = True  # in the same function
    for ancestor in site.script.walked.ancestors(site.node):
        if isinstance(ancestor, (cst.Annotation, cst.MatchKeywordElement)):
            return True
        if isinstance(ancestor, cst.Try) and is_here and below is ancestor.body and _catches(site, ancestor):
            return True
        if isinstance(ancestor, (cst.If, cst.IfExp)) and below is not ancestor.test:
            test = site.source(ancestor.test)
            if any(word in test for word in VERSION_TESTS) or (test in _NEVER and below is ancestor.body):
                return True
        is_here = is_here and not isinstance(ancestor, (cst.FunctionDef, cst.Lambda))
        below = ancestor
    return False


def _catches(site: Site, tried: cst.Try) -> bool:
    """Whether a try statement catches a NameError."""
    caught = [site.source(handler.type) if handler.type is not None else "Exception" for handler in tried.handlers]
    return not _CATCHING.isdisjoint(re.findall(r"\w+", " ".join(caught)))


def _tell(site: Site, name: str) -> None:
    if name in _OF_PYTHON2:
        instead = _OF_PYTHON2[name]
        message = f"Python 2's built-in {name} is gone, so that Python 3 ends here with a NameError. Write {instead}."
        site.manual(message, instead if instead.isidentifier() else "")
    elif is_notebook(site.script.path):  # which may have names from cells that are not Python
        site.info(f"No cell of Python defines {name}: without such a cell Python raises a NameError here.")
    elif any(isinstance(ancestor, _ENDS) for ancestor in site.script.walked.ancestors(site.node)):
        site.info(
            f"{name} has no definition: a program that has met an error raises a NameError here in its place. Define the name, "
            "or write the intended one."
        )
    elif uses_tensorflow(site.script):
        site.manual(
            f"Nothing defines {name}: the program ends here with a NameError, on TensorFlow 1.15 as well. Define the name, or "
            "write the intended one.",
            import_of(name),
        )
    else:
        site.manual(
            f"Nothing defines {name}: the program ends here with a NameError, with or without an NPU. Define the name, or write "
            "the intended one.",
            import_of(name),
        )
