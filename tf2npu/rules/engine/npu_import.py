"""The import of a framework's adapter, which a file gets once, whatever fixes ask for it."""

from __future__ import annotations

from tf2npu.findings import Finding, Level
from tf2npu.frameworks.base import Framework
from tf2npu.rules import hooks
from tf2npu.scanner.imports import plan_import
from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.script import Script
from tf2npu.scanner.text.edits import Fix


@hooks.completes
def adapter_imports(script: Script, kept: list[Fix]) -> list[Fix]:
    """The fixes that import what other fixes use, and what puts an entry script on the NPU."""
    found = (_adapter_import(script, framework, kept) for framework in script.frameworks)
    return [fix for fix in found if fix is not None]


def _adapter_import(script: Script, framework: Framework, kept: list[Fix]) -> Fix | None:
    adapter, kept = framework.adapter, [fix for fix in kept if framework.owns(fix.rule)]
    if adapter is None:
        return None
    asked = [symbol for fix in kept for symbol in fix.symbols]
    symbols = [symbol for symbol in asked if symbol[0] != adapter.module]
    is_reaching = script.project.is_reaching(script.path, framework.name)
    if not (adapter.for_entries or _imports(script, framework)):
        return None  # the file of the project that imports the framework imports the adapter, too
    is_run = adapter.for_entries and script.is_entry and is_reaching
    wants_it = is_run or len(symbols) < len(asked) or adapter.is_wanted(script)
    side_effect = wants_it and script.config.is_enabled(adapter.rule) and bool(adapter.side_effect(script.config))
    if not symbols and not side_effect:
        return None
    uses = [use for fix in kept for _, scope in fix.symbols for use in _uses_at_top(script, fix, scope)]
    changes = plan_import(script, framework, symbols, side_effect, min(uses, default=len(script.text)))
    if not changes:
        return None
    start, end = min(c.start for c in changes), max(c.end for c in changes)
    fix = Fix(adapter.rule, changes, site=(start, end))
    before = script.text[start:end]
    fix.findings.append(Finding(adapter.rule, Level.FIXED, script.span(start, end), adapter.message, "", before))
    return fix


def _imports(script: Script, framework: Framework) -> bool:
    """Whether a file imports a framework itself, not through the project."""
    facts = script.project.files.get(script.path)
    return facts is not None and framework.is_bound_by(facts.imports)


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
