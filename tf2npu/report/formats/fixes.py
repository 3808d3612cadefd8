"""Replacements that carry out what a finding says, for formats from which an editor or a code host applies them."""

from __future__ import annotations

from tf2npu.findings import Finding, Level, Span
from tf2npu.report.model.overlap_index import OverlapIndex
from tf2npu.report.model.report import Change, FileReport, Lines


class Fixes:
    """The replacements of one file, by finding.  Those of a notebook's cells are no ranges of its file, so it has none."""

    def __init__(self, file: FileReport) -> None:
        changes: dict[str, list[Change]] = {}
        for change in file.changes:
            changes.setdefault(change.rule, []).append(change)
        self._by_rule = {rule: OverlapIndex([(change.span, change) for change in own]) for rule, own in changes.items()}
        self._unexplained = _unexplained(file)
        self._lines = Lines(file.source or "")

    def of(self, finding: Finding) -> list[Change]:
        """The replacements in their order, or none.

        Of what is fixed: the changes at its place, with those that no finding explains. Of what a person must do: the code
        that the finding says to write in its place, where that still reads as the finding has it.
        """
        if finding.cell is not None:
            return []
        if finding.level is not Level.FIXED:
            return self._proposed(finding)
        own = self._by_rule[finding.rule].overlapping(finding.span) if finding.rule in self._by_rule else []
        is_explained = own or any(change.rule == finding.rule for change in self._unexplained)
        return sorted([*own, *self._unexplained], key=lambda change: change.span) if is_explained else []

    def _proposed(self, finding: Finding) -> list[Change]:
        span, text = finding.span, self._lines
        there = text.text[text.offset(span.line, span.column) : text.offset(span.end_line, span.end_column)]
        is_code = finding.replaces and finding.before == there and finding.after != there
        return [Change(finding.rule, span, finding.after)] if is_code else []


def _unexplained(file: FileReport) -> list[Change]:
    """Changes of a file at no finding's place: the imports that others need, and a config that is made elsewhere."""
    spans: dict[str, set[Span]] = {}
    for finding in file.findings:
        if finding.level is Level.FIXED:
            spans.setdefault(finding.rule, set()).add(finding.span)
    explained = {rule: OverlapIndex([(span, span) for span in own]) for rule, own in spans.items()}
    return [c for c in file.changes if c.rule not in explained or not explained[c.rule].overlapping(c.span)]
