"""The coverage of a project: lines by who touches them, references by what is known, and what was not looked at."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from functools import lru_cache

from tf2npu.api_support.table import shown, table
from tf2npu.findings import Finding, Level, Span, Status, Verdict
from tf2npu.report.model.file_parts import row_of
from tf2npu.report.model.report import ApiRow, FileReport, Report
from tf2npu.report.work.labels import label_of_work

_NEAREST = 3
"""Known names that are shown beside an unknown one: more are not read."""
_ALIKE = 0.75
"""Likeness of the last parts of two names, as difflib counts, from which on one is suggested for the other: a letter or two of
ten differ."""
_LARGE = "NPU008"
"""The rule about sources that are too large to be looked at."""


@dataclass(frozen=True)
class Lines:
    """Lines of code that were looked at, without blank ones, each counted once.

    tool: those that an edit touches.  person: those of which an open finding speaks, edited or not.  added: new in the output.
    """

    total: int
    tool: int
    person: int
    added: int

    @property
    def nobody(self) -> int:
        return max(0, self.total - self.tool - self.person)


@dataclass(frozen=True)
class NotSeen:
    """Something that was not looked at.  reason: a title or a sentence, in English.  first: a place, or ""."""

    reason: str
    count: int
    first: str = ""
    rule: str = ""


def lines(report: Report) -> Lines:
    """The numbers of lines in all files, by who touches them."""
    total = tool = person = added = 0
    for file in report.files:
        open_ = _open_lines(file)
        edited = {n for change in file.changes if not _only_adds(change.new, change.span) for n in _range(change.span)} - open_
        total += max(file.lines, len(open_) + len(edited))
        tool, person = tool + len(edited), person + len(open_)
        added += sum(change.new.count("\n") for change in file.changes if _only_adds(change.new, change.span))
    return Lines(total, tool, person, added)


def _open_lines(file: FileReport) -> set[int]:
    """The lines of a page's source of which an open finding speaks."""
    found: set[int] = set()
    for finding in file.new_findings():
        if label_of_work(file, finding):
            first = row_of(file, finding.cell, finding.span.line)
            found.update(range(first, first + 1 + finding.span.end_line - finding.span.line))
    return found


def _range(span: Span) -> range:
    """The lines of a range; one that ends before the first character of a line does not touch that line."""
    return range(span.line, max(span.line, span.end_line - (span.end_column == 1)) + 1)


def _only_adds(new: str, span: Span) -> bool:
    """Whether an edit puts whole lines between others."""
    return (span.line, span.column) == (span.end_line, span.end_column) and span.column == 1 and new.endswith("\n")


def not_seen(report: Report) -> list[NotSeen]:
    """Everything that was not looked at, and why: folders, files, and code that a comment keeps."""
    found = [NotSeen(reason, 1) for reason in report.left_out]
    groups: dict[str, list[str]] = {}
    for file, finding in report.findings():
        if finding.level is Level.SKIPPED or finding.rule == _LARGE:
            groups.setdefault(finding.rule, []).append(_place(file, finding))
    found += [NotSeen("", len(places), places[0], rule) for rule, places in sorted(groups.items())]
    n_copied = sum(1 for file in report.files if file.status is Status.COPIED and not file.findings)
    return [*found, NotSeen("They mention neither TensorFlow nor PyTorch", n_copied)] if n_copied else found


def _place(file: FileReport, finding: Finding) -> str:
    cell = "" if finding.cell is None else f"cell {finding.cell}:"
    return f"{file.path}:{cell}{finding.span.line}"


def unknown(report: Report) -> list[ApiRow]:
    """References of which nobody knows what becomes: each is work."""
    return [row for row in report.apis if row.verdict is Verdict.UNKNOWN]


def nearest(name: str) -> list[str]:
    """Known names that a name may have been meant for, as people write them."""
    plain = name.replace("()", "")
    last = plain.rpartition(".")[2] if "." in plain else ""
    alike = difflib.get_close_matches(last, list(_by_last_part()), _NEAREST, _ALIKE) if len(last) > 2 else []
    candidates = [full for part in alike for full in _by_last_part()[part] if _root(full) == _root(plain)]
    ordered = sorted(candidates, key=lambda full: (-difflib.SequenceMatcher(None, plain, full).ratio(), full))
    return [shown(full) for full in ordered if full != name][:_NEAREST]


def _root(name: str) -> str:
    return name.partition(".")[0]


@lru_cache(maxsize=1)
def _by_last_part() -> dict[str, list[str]]:
    """Names that run on the NPU or are converted, by their last part."""
    found: dict[str, list[str]] = {}
    for api in table():
        if api.kind != "module" and api.verdict in (Verdict.RUNS, Verdict.CONVERTED, Verdict.HOST):
            found.setdefault(api.name.rpartition(".")[2], []).append(api.name)
    return found
