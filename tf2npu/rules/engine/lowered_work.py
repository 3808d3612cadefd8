"""Work that no run of the project comes to: told as a remark, with the reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tf2npu.findings import Finding, Level
from tf2npu.scanner.text.edits import Fix

_OF_WHOLE_FILES = frozenset({"NPU950"})
"""Rules about code that keeps Python from reading the whole file, wherever it stands."""
_WORK = (Level.MANUAL, Level.UNSUPPORTED)


def lower(fixes: list[Fix], reason_at: Callable[[int, int], str], said: Callable[[str, str], str]) -> None:
    """Make remarks of findings that ask for work at places that have a reason.

    reason_at: of a range of the text, "" where it runs.  said: the message with a reason and the finding's own message.
    """
    for fix in fixes:
        start, end = fix.site
        is_of_place = fix.rule not in _OF_WHOLE_FILES and start < end and not fix.changes and not fix.must_go
        if is_of_place and any(finding.level in _WORK for finding in fix.findings):
            reason = reason_at(start, end)
            if reason:
                fix.findings = [_lowered(finding, said(reason, finding.message)) for finding in fix.findings]


def _lowered(finding: Finding, message: str) -> Finding:
    return replace(finding, level=Level.INFO, message=message) if finding.level in _WORK else finding
