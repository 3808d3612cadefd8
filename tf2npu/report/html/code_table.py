"""The code of a page: before and after in one table, each finding under its line, long unchanged runs folded and plain."""

from __future__ import annotations

import bisect
import html
import itertools
import re
from collections.abc import Container, Iterator
from dataclasses import dataclass
from functools import lru_cache

from markupsafe import Markup

from npu_formats.escape import ODD, code_point
from tf2npu.report.html.highlight import Piece, highlight, highlight_ranges
from tf2npu.report.languages.language import Catalogue
from tf2npu.report.model.file_parts import MOST_LINE_CHARACTERS, FilePart
from tf2npu.report.model.report import FileReport, Lines
from tf2npu.report.model.side_by_side import Comparison, Row, compare
from tf2npu.scanner.text.interval_index import Covering

_CONTEXT = 3
"""Unchanged rows that are kept in sight around what matters, as diff does."""
_WORTH_FOLDING = 8
"""Rows from which on a stretch is folded: a fold of fewer hides less than it takes."""
_MOST_COLOURED = 3_000
"""Elements that give a page its colours. A browser lays out 10,000 in half a second, and rows and findings need the others."""
_MOST_REST = 60_000
"""Characters of cut lines that a page holds behind a fold; what is longer is data that nobody reads."""
_MOST_MARKS = 200
"""Changed ranges of a line that are shown as such; a line with more is data."""
_QUOTED = re.compile(r"`([^`\n]+)`")


@dataclass(frozen=True)
class Run:
    """Rows that stand together: in sight, or behind a fold."""

    rows: list[Row]
    is_folded: bool


def seen(text: object) -> Markup:
    """`text` escaped, with each odd character as a labelled code point instead of its effect."""
    return Markup(_seen(str(text)))


def _seen(text: str) -> str:
    """`seen` as a plain string of HTML: code tables are made of hundreds of thousands of them."""
    return ODD.sub(_odd, html.escape(text))


def told(text: object) -> Markup:
    """A sentence of ours, escaped, with what stands between backquotes as code."""
    return _told(str(text))


@lru_cache(maxsize=4096)
def _told(text: str) -> Markup:
    """The same few hundred sentences stand on thousands of pages."""
    pieces = _QUOTED.split(text)
    return Markup("".join(f"<code>{_seen(piece)}</code>" if i % 2 else _seen(piece) for i, piece in enumerate(pieces)))


def _odd(match: re.Match[str]) -> str:
    name = code_point(match.group())
    return f'<span class="odd" title="character {name}">{name}</span>'


def code_html(
    file: FileReport, part: FilePart, notes_at: dict[int, Markup], texts: Catalogue, targets: Container[int] = ()
) -> Markup:
    """The code of a page. notes_at: what is to be said under a line of the original.  targets: lines to which links lead."""
    comparison = _compared(_Identity(file))
    rows = rows_of(comparison.rows, part) if file.changes else [Row(n, n, False) for n in range(part.first, part.last + 1)]
    shown = runs(rows, set(notes_at))
    table = _Table(comparison, shown, notes_at, texts, targets, is_single=not file.changes)
    return Markup("\n".join(table.html(run) for run in shown))


@dataclass(frozen=True)
class _Identity:
    """A file as a key: the same one is asked for once a page."""

    file: FileReport

    def __hash__(self) -> int:
        return id(self.file)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and self.file is other.file


@lru_cache(maxsize=1)
def _compared(of: _Identity) -> Comparison:
    """Both texts of a file, for all of its pages; where nothing has changed there are no rows to compute."""
    source = of.file.source or ""
    if of.file.changes:
        return compare(source, of.file.changes)
    lines = Lines(source)
    return Comparison(lines, lines, [])


def rows_of(rows: list[Row], part: FilePart) -> list[Row]:
    """The rows of a page: those of its lines, and what is put in below each of them; above the first line on the first page."""
    starts = [index for index, row in enumerate(rows) if row.before is not None and part.first <= row.before <= part.last]
    if not starts:
        return rows
    end = starts[-1] + 1
    while end < len(rows) and rows[end].before is None:
        end += 1
    return rows[0 if part.first == 1 else starts[0] : end]


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
    """Makes the HTML of the rows; plain strings inside, in which every text of the user's went through `_seen`."""

    def __init__(
        self,
        comparison: Comparison,
        shown: list[Run],
        notes_at: dict[int, Markup],
        texts: Catalogue,
        targets: Container[int],
        *,
        is_single: bool,
    ) -> None:
        self._targets = targets
        self._comparison = comparison
        self._notes_at = notes_at
        self._texts = texts
        self._is_single = is_single
        in_sight = [_first_and_last(run) for run in shown if not run.is_folded]
        self._coloured = highlight_ranges(comparison.before, [lines for lines in in_sight if lines is not None])
        self._has_head = False
        self._n_colours_left, self._n_rest_left = _MOST_COLOURED, _MOST_REST

    def html(self, run: Run) -> str:
        first, last = _first_and_last(run) or (1, 1)
        if run.is_folded:
            summary = self._texts.text(f"{len(run.rows)} unchanged lines: {first} to {last}")
            return f'<details class="fold" data-first="{first}"><summary>{summary}</summary>{self._folded(first, last)}</details>'
        body = "".join(self._row(row) for row in run.rows)
        columns = "<col class=n><col>" * (1 if self._is_single else 2)
        head = "" if self._has_head else self._head()
        self._has_head = True
        label = self._texts.text(f"lines {first} to {last}")
        return f'<table class="diff" aria-label="{label}"><colgroup>{columns}{head}<tbody>{body}</table>'

    def _folded(self, first: int, last: int) -> str:
        """Unchanged lines that are folded away: both sides are the same, so that each stands there once, and without colours."""
        texts = [self._comparison.before.line_text(number) for number in range(first, last + 1)]
        whole = "\n".join(texts)
        if ODD.search(whole.replace("\n", "")) or max(map(len, texts), default=0) > MOST_LINE_CHARACTERS:
            code = "\n".join(self._cut([("", text)], [], "") for text in texts)
        else:
            code = html.escape(whole, quote=False)
        numbers = "\n".join(self._number(number) for number in range(first, last + 1))
        return f'<div class="lines"><pre class="n">{numbers}</pre><pre>{code}</pre></div>'

    def _number(self, number: int) -> str:
        """The number of a folded line; an anchor only where something leads to it, as there are many."""
        return f'<i id="L{number}">{number}</i>' if number in self._targets else str(number)

    def _pieces(self, number: int) -> list[Piece]:
        """A line of the original, in colours where it is in sight."""
        return self._in_budget(self._coloured.get(number) or [("", self._comparison.before.line_text(number))])

    def _in_budget(self, pieces: list[Piece]) -> list[Piece]:
        """The pieces, without colours once a page has enough of them."""
        n_coloured = sum(1 for name, _ in pieces if name)
        if n_coloured > self._n_colours_left:
            return [("", "".join(text for _, text in pieces))]
        self._n_colours_left -= n_coloured
        return pieces

    def _cut(self, pieces: list[Piece], marks: list[tuple[int, int]], tag: str) -> str:
        """A line, of which what is behind a number of characters is a click away, or told to be left out."""
        shown = line_html(first_characters(pieces, MOST_LINE_CHARACTERS), marks[:_MOST_MARKS], tag)
        n_more = sum(len(text) for _, text in pieces) - MOST_LINE_CHARACTERS
        if n_more <= 0:
            return shown
        if n_more > self._n_rest_left:
            told = self._texts.text(f"{n_more} characters more: they are not in this report.")
            return f'{shown}<span class="rest">{told}</span>'
        self._n_rest_left -= n_more
        rest = _seen("".join(text for _, text in pieces)[MOST_LINE_CHARACTERS:])
        summary = self._texts.text(f"{n_more} characters more")
        return f'{shown}<details class="rest"><summary>{summary}</summary>{rest}</details>'

    def _head(self) -> str:
        names = ("Source",) if self._is_single else ("Before", "After")
        shown = [self._texts.text(name) for name in names]
        return "<thead><tr>" + "".join(f'<th scope="col" colspan="2">{name}</th>' for name in shown)

    def _row(self, row: Row) -> str:
        old = row.before
        anchor = "" if old is None else f" id=L{old}"
        kind = " class=changed" if row.changed and not self._is_single else ""
        text = f"<tr{anchor}{kind}>{self._cells(row)}"
        if old is not None and old in self._notes_at:
            text += f"<tr><td class=says colspan={2 if self._is_single else 4}>{self._notes_at[old]}"
        return text

    def _cells(self, row: Row) -> str:
        if not row.changed and row.before is not None:
            code = self._cut(self._pieces(row.before), [], "")
            after = "" if self._is_single else _cell(row.after, code, "")
            return _cell(row.before, code, "") + after
        left = right = ""
        if row.before is not None:
            left = self._cut(self._pieces(row.before), self._comparison.before_marks.get(row.before, []), "del")
        if row.after is not None:
            # A changed line is coloured by itself: reading the whole output once more would double the work.
            text = self._comparison.after.line_text(row.after)
            pieces = highlight(text) if len(text) <= MOST_LINE_CHARACTERS else [[("", text)]]
            coloured = self._in_budget(pieces[0] if pieces else [])
            right = self._cut(coloured, self._comparison.after_marks.get(row.after, []), "ins")
        return _cell(row.before, left, "old") + _cell(row.after, right, "new")


def _first_and_last(run: Run) -> tuple[int, int] | None:
    """The lines of the original that a run shows."""
    numbers = [row.before for row in run.rows if row.before is not None]
    return (numbers[0], numbers[-1]) if numbers else None


def _cell(number: int | None, code: str, kind: str) -> str:
    """A number and its line. HTML lets the ends of cells and rows be left out, as quotes of words: a twentieth of a report."""
    if number is None:
        return "<td class=n><td class=none>"
    shown = f" class={kind}" if kind else ""
    return f"<td class=n>{number}<td{shown}>{code}"


def first_characters(pieces: list[Piece], n_characters: int) -> list[Piece]:
    """The pieces of a line up to a number of characters."""
    shown: list[Piece] = []
    for name, text in pieces:
        if n_characters <= 0:
            break
        shown.append((name, text[:n_characters]))
        n_characters -= len(text)
    return shown


def line_html(pieces: list[Piece], marks: list[tuple[int, int]], tag: str) -> str:
    """A line's coloured pieces, with the ranges of `marks` inside <tag> elements."""
    if not marks:
        return "".join(_piece(name, text) for name, text in pieces)
    shown, at = [], 0
    marked, borders = Covering(marks), sorted({border for mark in marks for border in mark})
    for name, text in pieces:
        for is_marked, part in _cut(text, at, marked, borders):
            span = _piece(name, part)
            shown.append(f"<{tag}>{span}</{tag}>" if is_marked else span)
        at += len(text)
    return "".join(shown)


def _piece(name: str, text: str) -> str:
    shown = ODD.sub(_odd, html.escape(text, quote=False))
    return f"<i class={name}>{shown}</i>" if name else shown


def _cut(text: str, start: int, marked: Covering, borders: list[int]) -> Iterator[tuple[bool, str]]:
    """`text`, which begins at column `start`, cut at the borders of the marks."""
    end = start + len(text)
    within = borders[bisect.bisect_right(borders, start) : bisect.bisect_left(borders, end)]
    for low, high in itertools.pairwise([start, *within, end] if text else []):
        yield marked.holds(low, low + 1), text[low - start : high - start]
