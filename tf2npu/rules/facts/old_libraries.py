"""Names that newer versions of other libraries no longer have: questions and reports that all rules about them share.

They are reported only in files that take part: files that reach TensorFlow, or that such a file imports.
"""

from __future__ import annotations

import re
from typing import Any

import libcst as cst

from tf2npu.frameworks.tensorflow1.restored_names import BROUGHT_BACK
from tf2npu.frameworks.tensorflow1.scripts import uses_tensorflow
from tf2npu.scanner.import_names import imported_modules
from tf2npu.scanner.python2.constructs import VERSION_TESTS
from tf2npu.scanner.script import Script
from tf2npu.scanner.script_facts import fact
from tf2npu.scanner.sites import Site

# What a file must hold for python2_values to have anything to say.
PYTHON2_VALUES = re.compile(r"\bdef next\b|\.next\(\)|\b(?:map|filter|zip|range)\(|\.(?:has_key|iter(?:items|values|keys))\(")
_VERSION_TESTS = (*VERSION_TESTS, "__version__")  # of Python, and of the library itself


def takes_part(site: Site) -> bool:
    """Whether a file is run together with TensorFlow."""
    return uses_tensorflow(site.script) or site.script.path in site.script.project.reached


def is_guarded(site: Site) -> bool:
    """Whether a site lies in a try statement or under a test of versions: the author knows, and has another way."""
    below: cst.CSTNode = site.node
    ancestor: Any
    for ancestor in site.script.walked.ancestors(site.node):
        kind = type(ancestor)  # nodes are of abstract classes, for which isinstance is slow where it says no
        if kind is cst.FunctionDef or kind is cst.ClassDef:
            return False
        if kind is cst.Try and ancestor.handlers:
            return True
        if kind is cst.If and any(word in site.source(ancestor.test) for word in _VERSION_TESTS):
            return below is not ancestor.test
        if kind is cst.BooleanOperation and below is ancestor.right and _tests_version(site, ancestor):
            return True
        below = ancestor
    return False


def _tests_version(site: Site, condition: cst.BooleanOperation) -> bool:
    """Whether the second half of a condition is asked only under a test of versions: `six.PY2 and isinstance(x, unicode)`."""
    return any(word in site.source(condition.left) for word in _VERSION_TESTS)


def report_use(site: Site, since: str, replacement: str) -> None:
    """Report a use through a module (`np.int`); a name that was imported by itself is reported at its import."""
    node: Any = site.node.func if isinstance(site.node, cst.Call) else site.node
    if isinstance(node, cst.Attribute) and takes_part(site) and not is_guarded(site):
        _report(site, site.name, since, replacement)


def report_import(site: Site, table: dict[str, str], since: dict[str, str] | str) -> None:
    """Report `from module import name` and `import module` of what the table says is gone."""
    for name in gone_imports(site, table):
        when = since if isinstance(since, str) else since[name]
        _report(site, name, when, table[name])


def gone_imports(site: Site, table: dict[str, str]) -> list[str]:
    """The names that an import statement asks for and that the table says are gone; none where the author has another way."""
    project, path = site.script.project, site.script.path
    names = [name for name in imported_names(site) if name in table and not project.defines(path, 0, name)]
    return names if names and takes_part(site) and not is_guarded(site) else []


def _report(site: Site, name: str, since: str, replacement: str) -> None:
    if name in BROUGHT_BACK:
        site.info(
            f"{name} is gone since {since}. The line runs as it is: simulated runs bring the name back, and libraries of "
            f"TensorFlow 1.15's time have it. For newer libraries write {replacement}."
        )
    else:
        site.manual(
            f"{name} is gone since {since}, so that the line fails there and later. Write {replacement} in its place.",
            _code(site, name, replacement),
        )


def _code(site: Site, name: str, replacement: str) -> str:
    """The import or the use with the new name; "" where it takes more than a name."""
    if not all(part.isidentifier() for part in replacement.split(".")):
        return ""
    module, _, new = replacement.rpartition(".")
    node: Any = site.node
    if isinstance(node, cst.Import):
        alias = node.names[0].asname
        known = alias.name.value if alias is not None and isinstance(alias.name, cst.Name) else name
        has_one_name = len(node.names) == 1 and known.isidentifier()
        return f"import {replacement} as {known}" if has_one_name else ""
    if isinstance(node, cst.ImportFrom):
        if isinstance(node.names, cst.ImportStar) or len(node.names) != 1 or not module:
            return ""
        old = name.rpartition(".")[2]
        return f"from {module} import {new}{f' as {old}' if old != new else ''}"
    if isinstance(node, cst.Call):
        new_call = replacement + site.source(node).removeprefix(site.source(node.func))
        return f"import {module}\n{new_call}" if module else new_call
    return f"import {module}\n{replacement}" if module else replacement


def imported_names(site: Site) -> list[str]:
    """Dotted names that an import statement asks for; relative imports are the project's own."""
    known = _names_by_import(site.script)
    if id(site.node) not in known:
        known[id(site.node)] = imported_modules(site.node)
    return known[id(site.node)]


@fact
def _names_by_import(script: Script) -> dict[int, list[str]]:
    """The names that import statements ask for, by the statements' ids; filled where it is asked for."""
    return {}
