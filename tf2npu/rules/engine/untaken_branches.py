"""Work in branches that a program does not take unless somebody asks for them: told as a remark, with the condition."""

from __future__ import annotations

from dataclasses import replace

from tf2npu.api_support.uses import ApiUses
from tf2npu.findings import Finding, Level
from tf2npu.rules import hooks
from tf2npu.rules.facts.load_time import KEEPING_FILES_FROM_LOADING
from tf2npu.rules.facts.untaken_branches import condition_of_place
from tf2npu.scanner.script import Script
from tf2npu.scanner.text.edits import Fix

_WORK = (Level.MANUAL, Level.UNSUPPORTED)
_LONGEST = 60
"""Characters of a condition that a message shows: more are not read."""


@hooks.after_rules
def told_with_their_condition(script: Script, uses: ApiUses, fixes: list[Fix]) -> list[Fix]:
    """Lowers findings that ask for work only where an option is set that is off by default, and says so; adds none."""
    if not script.project.options:
        return []
    for fix in fixes:
        if (
            fix.rule in KEEPING_FILES_FROM_LOADING
            or fix.changes
            or fix.must_go
            or fix.site[0] >= fix.site[1]
            or not any(f.level in _WORK for f in fix.findings)
        ):
            continue
        condition = condition_of_place(script, *fix.site)
        if condition:
            fix.findings = [_lowered(finding, condition) for finding in fix.findings]
    return []


def _lowered(finding: Finding, condition: str) -> Finding:
    if finding.level not in _WORK:
        return finding
    shown = " ".join(condition.split())
    shown = shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 3]}..."
    message = f"Only if {shown}, which is not so by default: {finding.message}"
    return replace(finding, level=Level.INFO, message=message)
