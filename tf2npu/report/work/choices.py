"""Choices of a person for a finding: the code that it shows, a comment that switches its rule off, or to leave it so."""

from __future__ import annotations

from functools import lru_cache

from tf2npu.findings import Finding
from tf2npu.report.model.counts import n_places
from tf2npu.report.model.file_parts import row_of
from tf2npu.report.model.report import FileReport, Lines
from tf2npu.report.work.labels import FAILED, label_of_work
from tf2npu.rules import rule_parts
from tf2npu.rules.engine.repeated_findings import other_places

EDIT, SUPPRESS, ACCEPT = "edit", "suppress", "accept"
CHOICES = (EDIT, SUPPRESS, ACCEPT)
LINE, FILE = "ignore", "ignore-file"
"""The comments that switch a rule off: on a line, and for a file."""
_ON_ENGINE = {"NPU970": FILE}
"""Rules of the engine itself that a comment switches off. A finding of it may be about many lines; others are about files."""


def choices_of(file: FileReport, finding: Finding, lines: Lines) -> tuple[str, ...]:
    """The choices for a finding that is work. lines: of the file's source."""
    if label_of_work(file, finding) == FAILED:
        return (ACCEPT,)
    edit = (EDIT,) if has_code(file, finding, lines) or has_unsafe_fix(finding) else ()
    suppress = (SUPPRESS,) if comment_of(finding) and names_all_places(finding) else ()
    return (*edit, *suppress, ACCEPT)


def has_code(file: FileReport, finding: Finding, lines: Lines) -> bool:
    """Whether the finding shows code that may come in its place as it is, and the place still reads as the finding has it."""
    if not finding.replaces or finding.after == finding.before or n_places([finding]) != 1:
        return False
    span = finding.span
    start, end = (row_of(file, finding.cell, line) for line in (span.line, span.end_line))
    return lines.text[lines.offset(start, span.column) : lines.offset(end, span.end_column)] == finding.before


def has_unsafe_fix(finding: Finding) -> bool:
    """Whether the converter can make an unsafe fix at all places that the finding speaks of."""
    return finding.unsafe and finding.after != finding.before and names_all_places(finding)


def changed_lines(before: str, after: str) -> tuple[str, str]:
    """Two texts without the lines that both start with, and those that both end with."""
    one, other = before.splitlines(), after.splitlines()
    first = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    most = min(len(one), len(other)) - first
    last = next((n for n, (a, b) in enumerate(zip(reversed(one), reversed(other), strict=False)) if a != b or n >= most), most)
    return "\n".join(one[first : len(one) - last]), "\n".join(other[first : len(other) - last])


def comment_of(finding: Finding) -> str:
    """The kind of comment that switches the finding off: `LINE`, `FILE`, or "" where none does."""
    kinds = _kinds().get(finding.rule, {})
    kind = kinds.get(finding.part) or next(iter(kinds.values()), "")
    return _ON_ENGINE.get(finding.rule, "") if kind in ("", "engine") else FILE if kind == "module" else LINE


def names_all_places(finding: Finding) -> bool:
    """Whether a finding that speaks of several places says where they are: of more than some it does not."""
    return n_places([finding]) == 1 + len(other_places(finding.message)[1])


@lru_cache(maxsize=1)
def _kinds() -> dict[str, dict[str, str]]:
    """The kind of site that each part of each rule looks at."""
    kinds: dict[str, dict[str, str]] = {}
    for part in rule_parts():
        kinds.setdefault(part.id, {})[part.name] = part.on
    return kinds
