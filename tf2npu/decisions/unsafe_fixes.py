"""Unsafe fixes that people chose: the converter makes them itself, at exactly their places, with what else they need."""

from __future__ import annotations

from dataclasses import dataclass, field

from tf2npu.findings import FileResult, Finding, Level, Status, UnsafePlace
from tf2npu.project.request import Again
from tf2npu.rules.engine.repeated_findings import other_places

NOT_MADE = "the converter could not make its fix at each of these places"


@dataclass
class ChosenFixes:
    """The outcome of unsafe fixes that were chosen in one file.

    result: of the file with them.  done, refused: numbers of findings.
    """

    result: FileResult
    done: dict[int, Finding] = field(default_factory=dict)
    refused: set[int] = field(default_factory=set)

    def findings(self) -> list[Finding]:
        """The findings besides the fixes that were chosen."""
        made = {place[:3] for finding in self.done.values() for place in _places(finding)}
        return [f for f in self.result.findings if f.level is not Level.FIXED or (f.rule, f.cell, f.span.line) not in made]


def with_chosen(result: FileResult, chosen: dict[int, Finding], again: Again) -> ChosenFixes:
    """The file with the unsafe fixes of these findings, by number; without one that cannot be made at all of its places."""
    done, refused = dict(chosen), set[int]()
    while done:
        changed = again(frozenset(place for finding in done.values() for place in _places(finding)))
        fixed = {(f.rule, f.cell, f.span.line) for f in changed.findings if f.level is Level.FIXED}
        left = {number for number, finding in done.items() if not {place[:3] for place in _places(finding)} <= fixed}
        if changed.status is Status.FAILED:
            left = set(done)
        if not left:
            return ChosenFixes(changed, done, refused)
        refused |= left
        done = {number: finding for number, finding in done.items() if number not in left}
    return ChosenFixes(result, {}, refused)


def _places(finding: Finding) -> list[UnsafePlace]:
    """All places of which a finding speaks, in the file as it was."""
    message, others = other_places(finding.message)
    return [(finding.rule, cell, line, message) for cell, line in [(finding.cell, finding.span.line), *others]]
