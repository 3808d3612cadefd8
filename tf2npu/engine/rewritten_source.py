"""A source that is brought from a sister of a framework to the framework before it is converted."""

from __future__ import annotations

import dataclasses

from tf2npu.config import Config
from tf2npu.findings import ApiUse, Edit, Finding, Level, Span, UnsafePlace
from tf2npu.frameworks.base import Rewriting, SourceFix
from tf2npu.frameworks.registry import known
from tf2npu.scanner.project_facts import ProjectFacts
from tf2npu.scanner.syntax import parsed
from tf2npu.scanner.text.edits import splice, spliced_range
from tf2npu.scanner.text.rewriting import OldPlaces, composed, rewriting_edits
from tf2npu.scanner.text.source import LineIndex


class RewrittenSource:
    """The text of a source for the framework, and how what was found in it is told of the original."""

    def __init__(self, original: str, rewriting: Rewriting) -> None:
        self._original = original
        self._rewriting = rewriting
        self._edits = rewriting_edits(rewriting)
        self.text = splice(original, self._edits)
        self._places = OldPlaces(self._edits)
        self._lines, self._old_lines = LineIndex(self.text), LineIndex(original)

    def edits(self, later: list[Edit]) -> list[Edit]:
        """The edits of the original that make what later edits make of this text."""
        return composed(self._edits, later, self.text)

    def findings(self, later: list[Finding]) -> list[Finding]:
        """The findings on the rewriting, and those on this text, at places of the original."""
        return [*map(self._said_of, self._rewriting.fixes), *map(self._moved, later)]

    def use(self, use: ApiUse) -> ApiUse:
        """The use of an API at its line of the original."""
        return dataclasses.replace(use, line=self._span(Span(use.line, 1, use.line, 1)).line)

    def config(self, config: Config) -> Config:
        """The settings, with the places in them as places of this text."""
        return dataclasses.replace(config, unsafe_at=frozenset(map(self._in_new_text, config.unsafe_at)))

    def _in_new_text(self, place: UnsafePlace) -> UnsafePlace:
        rule, cell, line, message = place
        if not 0 < line <= len(self._old_lines.starts):
            return place
        return rule, cell, self._lines.position(self._places.new(self._old_lines.starts[line - 1]))[0], message

    def _said_of(self, fix: SourceFix) -> Finding:
        span = Span(*self._old_lines.position(fix.start), *self._old_lines.position(fix.end))
        after = spliced_range(self._original, self._edits, fix.start, fix.end) if fix.changes else ""
        before = self._original[fix.start : fix.end]
        return Finding(self._rewriting.rule, Level(fix.level), span, fix.message, before=before, after=after)

    def _moved(self, finding: Finding) -> Finding:
        span = self._span(finding.span)
        before = finding.before
        if before and before == self._slice(self._lines, self.text, finding.span):
            before = self._slice(self._old_lines, self._original, span)
        return dataclasses.replace(finding, span=span, before=before)

    def _span(self, span: Span) -> Span:
        start, end = self._offset(span.line, span.column), self._offset(span.end_line, span.end_column)
        old_start = self._places.old(start)
        old_end = max(old_start, self._places.old(end, True))
        return Span(*self._old_lines.position(old_start), *self._old_lines.position(old_end))

    def _offset(self, line: int, column: int) -> int:
        starts = self._lines.starts
        return min(len(self.text), starts[min(line, len(starts)) - 1] + column - 1)

    @staticmethod
    def _slice(lines: LineIndex, text: str, span: Span) -> str:
        starts = lines.starts
        if max(span.line, span.end_line) > len(starts):
            return ""
        return text[starts[span.line - 1] + span.column - 1 : starts[span.end_line - 1] + span.end_column - 1]


def rewritten_source(path: str, text: str, config: Config, project: ProjectFacts) -> RewrittenSource | None:
    """The source for the framework; None for a file that is converted as it is."""
    if path not in project.rewritten:
        return None
    for framework in known():
        rewriting = framework.rewriting(path, text, parsed(text)) if config.converts(framework.family) else None
        if rewriting is not None and config.is_enabled(rewriting.rule):
            return RewrittenSource(text, rewriting)
    return None
