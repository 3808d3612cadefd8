"""The code of a page: before and after in one table, each finding under its line, long unchanged runs folded."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup, escape

from tf2npu.report.aligned import Comparison, Marks, Row, compare
from tf2npu.report.highlight import Piece, highlight
from tf2npu.report.model import FileReport
from tf2npu.report.visible import ODD, code_point

_CONTEXT = 3  # unchanged rows kept in sight around what matters
_WORTH_FOLDING = 8
_QUOTED = re.compile(r"`([^`\n]+)`")


@dataclass(frozen=True)
class Run:
    """Rows that stand together: in sight, or behind a fold."""

    rows: list[Row]
    is_folded: bool


def seen(text: object) -> Markup:
    """`text` escaped, with each odd character as a labelled code point instead of its effect."""
    pieces, at = [], 0
    value = str(text)
    for match in ODD.finditer(value):
        pieces += [escape(value[at : match.start()]), _odd(match.group())]
        at = match.end()
    return Markup("").join([*pieces, escape(value[at:])])


def told(text: object) -> Markup:
    """A sentence of ours, escaped, with what stands between backquotes as code."""
    pieces = _QUOTED.split(str(text))
    return Markup("").join(Markup("<code>{}</code>").format(seen(p)) if i % 2 else seen(p) for i, p in enumerate(pieces))


def _odd(character: str) -> Markup:
    name = code_point(character)
    return Markup('<span class="odd" title="character {0}">{0}</span>').format(name)


def code_html(file: FileReport, notes_at: dict[int, Markup]) -> Markup:
    """The whole code section. notes_at: what is to be said under a line of the original."""
    comparison = compare(file.source or "", file.changes)
    table = _Table(comparison, notes_at, is_single=not file.changes)
    return Markup("\n").join(table.html(run) for run in runs(comparison.rows, set(notes_at)))


def runs(rows: list[Row], lines_with_notes: set[int]) -> list[Run]:
    """Split the rows into runs in sight and folded runs; changes and notes are always in sight, with their context."""
    in_sight = bytearray(len(rows))
    for index, row in enumerate(rows):
        if row.changed or row.before in lines_with_notes:
            for near in range(max(0, index - _CONTEXT), min(len(rows), index + _CONTEXT + 1)):
                in_sight[near] = 1
    result: list[Run] = []
    for start, end, visible in _stretches(in_sight):
        folded = not visible and end - start >= _WORTH_FOLDING
        if result and not folded and not result[-1].is_folded:
            result[-1].rows.extend(rows[start:end])
        else:
            result.append(Run(rows[start:end], folded))
    return result


def _stretches(flags: bytearray) -> Iterator[tuple[int, int, bool]]:
    start = 0
    for index in range(1, len(flags) + 1):
        if index == len(flags) or flags[index] != flags[start]:
            yield start, index, bool(flags[start])
            start = index


class _Table:
    def __init__(self, comparison: Comparison, notes_at: dict[int, Markup], is_single: bool) -> None:
        self._comparison = comparison
        self._notes_at = notes_at
        self._is_single = is_single
        self._has_head = False
        self._before = highlight(comparison.before.text)
        self._after = self._before if is_single else highlight(comparison.after.text)

    def html(self, run: Run) -> Markup:
        body = Markup("\n").join(self._row(row) for row in run.rows)
        columns = Markup('<col class="n"><col>') * (1 if self._is_single else 2)
        first, last = self._first_and_last(run)
        label = f"lines {first} to {last}"
        head = Markup("") if run.is_folded or self._has_head else self._head()
        self._has_head = self._has_head or not run.is_folded
        table = Markup('<table class="diff" aria-label="{}"><colgroup>{}</colgroup>{}<tbody>\n{}\n</tbody></table>')
        html = table.format(label, columns, head, body)
        if not run.is_folded:
            return html
        fold = Markup('<details class="fold"><summary>{} unchanged lines: {} to {}</summary>\n{}</details>')
        return fold.format(len(run.rows), first, last, html)

    def _first_and_last(self, run: Run) -> tuple[int, int]:
        numbers = [row.before for row in run.rows if row.before is not None]
        return (numbers[0], numbers[-1]) if numbers else (1, 1)

    def _head(self) -> Markup:
        if self._is_single:
            return Markup('<thead><tr><th scope="col" colspan="2">Source</th></tr></thead>')
        names = ("Before", "After")
        cells = Markup("").join(Markup('<th scope="col" colspan="2">{}</th>').format(name) for name in names)
        return Markup("<thead><tr>{}</tr></thead>").format(cells)

    def _row(self, row: Row) -> Markup:
        old = row.before
        cells = self._cells(old, self._before, self._comparison.before_marks, "old" if row.changed else "", "del")
        if not self._is_single:
            marks = self._comparison.after_marks
            cells += self._cells(row.after, self._after, marks, "new" if row.changed else "", "ins")
        anchor = Markup(' id="L{}"').format(old) if old is not None else ""
        html = Markup("<tr{}>{}</tr>").format(anchor, cells)
        if old is not None and old in self._notes_at:
            span = 2 if self._is_single else 4
            html += Markup('\n<tr><td class="says" colspan="{}">{}</td></tr>').format(span, self._notes_at[old])
        return html

    def _cells(self, number: int | None, lines: list[list[Piece]], marks: Marks, kind: str, tag: str) -> Markup:
        if number is None:
            return Markup('<td class="n"></td><td class="t none"></td>')
        code = line_html(lines[number - 1], marks.get(number, []), tag)
        return Markup('<td class="n">{}</td><td class="t {}">{}</td>').format(number, kind, code)


def line_html(pieces: list[Piece], marks: list[tuple[int, int]], tag: str) -> Markup:
    """A line's coloured pieces, with the ranges of `marks` inside <tag> elements."""
    html, at = Markup(""), 0
    for name, text in pieces:
        for is_marked, part in _cut(text, at, marks):
            span = Markup('<span class="{}">{}</span>').format(name, seen(part)) if name else seen(part)
            html += Markup("<{0}>{1}</{0}>").format(Markup(tag), span) if is_marked else span
        at += len(text)
    return html


def _cut(text: str, start: int, marks: list[tuple[int, int]]) -> Iterator[tuple[bool, str]]:
    """`text`, which begins at column `start`, cut at the borders of the marks."""
    borders = {0, len(text)}
    for low, high in marks:
        borders |= {min(max(low - start, 0), len(text)), min(max(high - start, 0), len(text))}
    ordered = sorted(borders)
    for low, high in itertools.pairwise(ordered):
        yield any(m[0] <= start + low < m[1] for m in marks), text[low:high]
