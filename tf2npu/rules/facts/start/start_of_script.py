"""Lines that a script runs before it uses a framework: behind its imports, or behind the one import that a function makes."""

from __future__ import annotations

from typing import Any

import libcst as cst

from tf2npu.frameworks.base import Framework
from tf2npu.rules.facts.start.entry_block import (
    command_functions,
    entry_guard,
    insert_after_imports,
    insert_behind,
    start_in_function,
    start_in_guard,
)
from tf2npu.scanner.imports import reaches
from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.script import Script
from tf2npu.scanner.sites import Site


def put_before_use(site: Site, framework: Framework, symbol: str, line: str) -> cst.CSTNode | None:
    """Put a line before the first use of a framework in a script that is run.

    symbol: what the line uses of the framework's adapter, as `Fix.symbols` has it.  Returns: the first import where several
    functions import the framework, as it is not known which of them runs first; nothing is put then.
    """
    late = _late_imports(site.script, framework)
    if len(late) > 1:
        return late[0][0]
    if late:
        _put_behind(site, *late[0], symbol, line)
    else:
        _put(site, symbol, line)
    if site.fix.changes:
        site.fix.site = (site.fix.changes[0].start,) * 2
    else:
        site.fix.symbols.clear()  # nothing but imports, so there is nothing to start for
    return None


def _late_imports(script: Script, framework: Framework) -> list[tuple[cst.CSTNode, Scope]]:
    """The imports of a framework, where all of them stand in functions."""
    found: list[tuple[cst.CSTNode, Scope]] = [
        (node, scope) for node, scope in script.walked.imports if reaches(script, framework, node)
    ]
    return found if all(scope.function is not None for _, scope in found) else []


def _put_behind(site: Site, node: cst.CSTNode, scope: Scope, symbol: str, line: str) -> None:
    """Put the line behind the one import, which a function makes."""
    statement: Any = site.script.walked.parents.get(id(node))
    if isinstance(statement, cst.SimpleStatementLine):
        site.fix.symbols.append((symbol, scope))
        insert_behind(site, statement, [line])


def _put(site: Site, symbol: str, line: str) -> None:
    """Put the line behind the imports; in a file that others import only where it is the one that is run."""
    script = site.script
    site.fix.symbols.append((symbol, site.scope))
    guard, functions = entry_guard(script), command_functions(script)
    if script.path not in script.project.imported or (guard is None and not functions):
        insert_after_imports(site, [line], lambda statement: _uses_tensorflow(script, statement))
        return
    for function in functions:
        start_in_function(site, function, [line])
    if guard is not None:
        start_in_guard(site, guard, [line])


def _uses_tensorflow(script: Script, statement: cst.CSTNode) -> bool:
    """Whether a statement calls something of TensorFlow when it runs, as a try block that looks for a device does."""
    calls = script.calls_in(*script.tree.span(statement))
    return any((script.name_of(call.func, scope) or "").startswith("tensorflow.") for call, scope in calls)
