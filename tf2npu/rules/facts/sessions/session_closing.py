"""Edits that close a session: at the process's end, or where the class that holds it is closed."""

from __future__ import annotations

import re
from typing import Any

import libcst as cst

from tf2npu.rules.facts.runs_once import runs_once
from tf2npu.rules.facts.start.entry_block import entry_guard
from tf2npu.rules.facts.start.npu_start import wants_keras_session, wants_resources
from tf2npu.scanner.notebooks.path import is_notebook
from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.script import Script
from tf2npu.scanner.script_facts import fact
from tf2npu.scanner.sites import Call

_WORKS_TO_THE_END = re.compile(r"[Tt]hread|[Qq]ueue_?[Rr]unner|Supervisor|\batexit\b|\bfork\b|\b_exit\b|__del__")
"""Code that may still use a session while the process ends: threads, the script's own handlers and __del__, copies of the
process."""
_CLOSERS = ("close", "__exit__", "__del__")
"""Methods by which an object is given up, the first that a class has counts."""


def close_at_exit(call: Call, assign: cst.Assign) -> bool:
    """Close a session that lives as long as the process when that ends, also by an exception; False where it may not be.

    One line behind the construction does it and leaves all others as they are. A `with` or a `try` around the rest would indent
    the whole script, and a `with` would make the session the default one.
    """
    script, line = call.script, call.script.walked.parents.get(id(assign))
    target = assign.targets[0].target
    if not isinstance(target, cst.Name) or not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1:
        return False
    if (
        assign.value is not call.node
        or not _ends_its_line(script, line)
        or is_notebook(script.path)
        or _WORKS_TO_THE_END.search(script.text)
    ):
        return False
    if _is_last_of_block(script, line) or _is_indented_further(script, line) or not runs_once(script, assign, call.scope):
        return False
    lines = ["import atexit"] * _needs_import(script, line) + [f"atexit.register({target.value}.close)"]
    call.fix.site = script.tree.span(line)[0], _insert_behind(call, line, lines)
    return True


def _ends_its_line(script: Script, line: cst.CSTNode) -> bool:
    """Whether nothing but a comment stands behind a statement, so that the next line is one of its own."""
    start, end = script.tree.span(line)
    last = start + len(script.text[start:end].rstrip()) - 1
    behind = script.text[last + 1 : script.lines.line_end(last)].strip()
    return script.text[last] != "\\" and (not behind or behind.startswith("#"))


def _is_last_of_block(script: Script, line: cst.SimpleStatementLine) -> bool:
    block: Any = script.walked.parents.get(id(line))
    return block.body[-1] is line


def _is_indented_further(script: Script, line: cst.SimpleStatementLine) -> bool:
    """Whether another fix puts a try around the guard that a statement stands in."""
    guard = entry_guard(script)
    is_bracketed = guard is not None and (wants_resources(script) or wants_keras_session(script))
    return is_bracketed and any(ancestor is guard for ancestor in script.walked.ancestors(line))


@fact
def _first_at_module_level(script: Script) -> list[int]:
    """The offset of the statement before the first `import atexit` of the module's own code; filled where it is asked for."""
    return []


def _needs_import(script: Script, line: cst.SimpleStatementLine) -> bool:
    """Whether atexit has no name here yet: the first line of the module's own body brings it for all behind that."""
    first, start = _first_at_module_level(script), script.tree.span(line)[0]
    if isinstance(script.walked.parents.get(id(line)), cst.Module) and not first:
        first.append(start)
        return True
    return not first or start <= first[0]


def _insert_behind(call: Call, line: cst.CSTNode, lines: list[str]) -> int:
    """Put lines behind a statement, with its indentation; a comment on its line stays there. Returns where they go."""
    script = call.script
    start, end = script.tree.span(line)
    last = start + len(script.text[start:end].rstrip()) - 1
    line_end, newline = script.lines.line_end(last), script.newline_at(start)
    indent = script.text[script.lines.line_start(start) : start].rpartition("\f")[2]
    if script.text.startswith(newline, line_end):
        offset = line_end + len(newline)
        call.insert(offset, "".join(f"{indent}{text}{newline}" for text in lines))
    else:
        offset = line_end
        call.insert(offset, "".join(f"{newline}{indent}{text}" for text in lines))
    return offset


def close_with_object(call: Call, assign: cst.Assign) -> str:
    """Close a session that `__init__` keeps where the class is closed; the method that does it, or "" where none can."""
    target, owner, line = assign.targets[0].target, call.scope.enclosing_class, call.script.walked.parents.get(id(assign))
    is_own = isinstance(target, cst.Attribute) and isinstance(target.value, cst.Name) and target.value.value == "self"
    init: Any = call.scope.node
    if not is_own or owner is None or not isinstance(init, cst.FunctionDef) or init.name.value != "__init__":
        return ""
    is_always_made = call.script.walked.parents.get(id(line)) is init.body and assign.value is call.node
    bindings = owner.attributes.get(target.attr.value, []) if isinstance(target, cst.Attribute) else []
    method = _closing_method(call.script, owner) if is_always_made and len(bindings) == 1 else None
    if method is None or not isinstance(target, cst.Attribute):
        return ""
    _insert_behind(call, method.body.body[-1], [f"self.{target.attr.value}.close()"])
    return str(method.name.value)


def _closing_method(script: Script, owner: Scope) -> Any:
    """The first of the methods that a class has, when something can be put behind its last statement."""
    for name in _CLOSERS:
        found: list[Any] = [b.node for b in owner.names.get(name, [])]
        if found:
            return found[0] if len(found) == 1 and _goes_to_its_end(script, found[0]) else None
    return None


def _goes_to_its_end(script: Script, method: Any) -> bool:
    """Whether a plain method of an object ends with a simple statement of its own and is not left before."""
    if not isinstance(method, cst.FunctionDef) or not isinstance(method.body, cst.IndentedBlock) or method.decorators:
        return False
    names = [p.name.value for p in method.params.params]
    source = script.tree.source(method)
    is_left = re.search(r"\b(?:return|raise|yield|await)\b", source) is not None
    last = method.body.body[-1]
    return names[:1] == ["self"] and not is_left and isinstance(last, cst.SimpleStatementLine) and _ends_its_line(script, last)
