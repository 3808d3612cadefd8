"""The import of npu_bridge, which a file gets once, whatever fixes ask for it."""

from __future__ import annotations

import libcst as cst

from tf2npu.findings import Finding, Level
from tf2npu.frameworks.tensorflow1.brought_back import METHODS, import_needs_npu_bridge, needs_npu_bridge
from tf2npu.rules import hooks
from tf2npu.scanner.edits import Fix
from tf2npu.scanner.import_names import asked_modules
from tf2npu.scanner.imports import plan_import
from tf2npu.scanner.names import NPU_INIT
from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.script import Script

_ID = "NPU100"


@hooks.completes
def npu_import(script: Script, kept: list[Fix]) -> list[Fix]:
    """The fix that imports what other fixes use, and what puts the sessions of an entry script on the NPU."""
    asked = [symbol for fix in kept for symbol in fix.symbols]
    symbols = [symbol for symbol in asked if symbol[0] != NPU_INIT]
    wants_it = (
        (script.is_entry and script.uses_tensorflow) or len(symbols) < len(asked) or script.path in script.project.run_first
    )
    side_effect = wants_it and script.config.is_enabled(_ID)
    uses = [use for fix in kept for _, scope in fix.symbols for use in _uses_at_top(script, fix, scope)]
    first_use = min(uses, default=len(script.text))
    changes = plan_import(script, symbols, side_effect, first_use, _first_need(script)) if symbols or side_effect else []
    if not changes:
        return []
    start, end = min(c.start for c in changes), max(c.end for c in changes)
    fix = Fix(_ID, changes, site=(start, end))
    span = script.span(start, end)
    before = script.text[start:end]
    fix.findings.append(Finding(_ID, Level.FIXED, span, "Imports what the file now uses from npu_bridge.", "", before))
    return [fix]


def _first_need(script: Script) -> cst.CSTNode | None:
    """The first place of a script with something that only works once npu_bridge is imported.

    That is a name of another library, or the import of a file of the project that has one, whether it runs at once or later.
    """
    if script.path not in script.project.with_old_names:
        return None
    needs: list[cst.CSTNode] = [node for node, _ in script.walked.imports if _needs_npu_bridge(script, node)]
    needs += [node for node, scope in script.walked.references if needs_npu_bridge(script.name_of(node, scope) or "")]
    methods = (node.func for node, _ in script.walked.calls)
    needs += [func for func in methods if isinstance(func, cst.Attribute) and func.attr.value in METHODS]
    return min(needs, key=lambda node: script.tree.span(node)[0], default=None)


def _needs_npu_bridge(script: Script, node: cst.Import | cst.ImportFrom) -> bool:
    """Whether an import statement asks for what npu_bridge has back, or runs a file that does."""
    asked = asked_modules(node)
    if any(level == 0 and import_needs_npu_bridge(module) for level, module in asked):
        return True
    loaded = (script.project.loaded_by(script.path, level, module) for level, module in asked)
    return any((files - {script.path}) & script.project.with_old_names for files in loaded)


def _uses_at_top(script: Script, fix: Fix, scope: object) -> list[int]:
    """Offsets at which a fix uses what is imported when the module is run, not when a function of it is called."""
    if not isinstance(scope, Scope):
        return []
    places, outermost = [fix.site[0], *(c.start for c in fix.changes)], scope.function
    while outermost is not None and outermost.parent is not None and outermost.parent.function is not None:
        outermost = outermost.parent.function
    if outermost is None or outermost.node is None:
        return places
    start, end = script.tree.span(outermost.node)
    return [place for place in places if not start <= place < end]
