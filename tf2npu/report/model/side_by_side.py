"""Before and after side by side: which line stands beside which, and which characters of it changed."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from tf2npu.findings import Edit
from tf2npu.report.model.changes import changes_by_line, offsets_of, splice
from tf2npu.report.model.report import Change, Lines

Marks = dict[int, list[tuple[int, int]]]  # line -> changed character ranges [start, end), 0-based


class Row(NamedTuple):
    """One row of the comparison: 1-based line numbers, None where that side has no line."""

    before: int | None
    after: int | None
    changed: bool


@dataclass
class Comparison:
    """Both texts, their rows in order, and the characters that changed."""

    before: Lines
    after: Lines
    rows: list[Row]
    before_marks: Marks = field(default_factory=dict)
    after_marks: Marks = field(default_factory=dict)


@dataclass
class _Block:
    """Lines [first, last] of the original that one or several edits touch; last = first - 1 is a pure insertion."""

    first: int
    last: int
    shift: int  # characters by which the edits before it moved the text
    n_after: int = 0


def compare(text: str, changes: list[Change]) -> Comparison:
    """Rows for `text` and what `changes` make of it: exact, since the changes are known and need not be guessed."""
    before = Lines(text)
    edits = sorted((offsets_of(before, change) for change in changes), key=lambda e: (e.start, e.end))
    after = Lines(splice(text, edits))
    comparison = _comparison(before, after, edits)
    if _covers_both(comparison):
        return comparison
    # An edit put a CR before an LF or took one away, so that it moved a line's border outside itself: compare lines.
    return _comparison(before, after, [offsets_of(before, c) for c in changes_by_line(text, after.text)])


def _comparison(before: Lines, after: Lines, edits: list[Edit]) -> Comparison:
    result = Comparison(before, after, list(_rows(before, after, _blocks(before, after, edits))))
    shift = 0
    for edit in edits:
        _mark(before, edit.start, edit.end, result.before_marks)
        _mark(after, edit.start + shift, edit.start + shift + len(edit.new), result.after_marks)
        shift += len(edit.new) - (edit.end - edit.start)
    return result


def _covers_both(comparison: Comparison) -> bool:
    """Whether each line of both texts stands in one row, and those that stand together as unchanged are equal."""
    before, after = comparison.before, comparison.after
    return (
        [row.before for row in comparison.rows if row.before] == list(range(1, len(before) + 1))
        and [row.after for row in comparison.rows if row.after] == list(range(1, len(after) + 1))
        and all(
            before.line_text(row.before) == after.line_text(row.after)
            for row in comparison.rows
            if not row.changed and row.before and row.after
        )
    )


def _blocks(before: Lines, after: Lines, edits: list[Edit]) -> list[_Block]:
    blocks: list[_Block] = []
    shift = 0
    for edit in edits:
        first, last = _touched(before, edit)
        if not blocks or first > blocks[-1].last:
            blocks.append(_Block(first, last, shift))
        block = blocks[-1]
        block.last = max(block.last, last)
        shift += len(edit.new) - (edit.end - edit.start)
        start = before.offset(block.first, 1) + block.shift
        block.n_after = _n_lines(after, start, before.offset(block.last + 1, 1) + shift)
    return blocks


def _touched(before: Lines, edit: Edit) -> tuple[int, int]:
    """First and last line that an edit changes; whole lines put in or taken out touch no neighbour."""
    first, first_column = before.position(edit.start)
    last, last_column = before.position(edit.end)
    ends_a_line = edit.new.endswith(("\n", "\r")) or (not edit.new and first_column == 1)
    if first_column == 1 and last_column == 1 and ends_a_line:
        return first, last - 1
    return first, last


def _n_lines(text: Lines, start: int, end: int) -> int:
    """Lines between two offsets that both stand at the start of a line or at the end of the text."""
    if start >= end:
        return 0
    first, _ = text.position(start)
    last, column = text.position(end)
    return last - first + (1 if column > 1 else 0)


def _rows(before: Lines, after: Lines, blocks: list[_Block]) -> Iterator[Row]:
    old = new = 1
    for block in blocks:
        while old < block.first:
            yield Row(old, new, False)
            old, new = old + 1, new + 1
        yield from _block_rows(before, after, block, new)
        old, new = max(old, block.last + 1), new + block.n_after
    while old <= len(before) and new <= len(after):
        yield Row(old, new, False)
        old, new = old + 1, new + 1


def _block_rows(before: Lines, after: Lines, block: _Block, new: int) -> Iterator[Row]:
    """Lines that are equal inside a changed block stand beside each other; the rest is paired from the top."""
    old_numbers = range(block.first, min(block.last, len(before)) + 1)
    new_numbers = range(new, min(new + block.n_after - 1, len(after)) + 1)
    old_lines, new_lines = [before.line_text(n) for n in old_numbers], [after.line_text(n) for n in new_numbers]
    matcher = difflib.SequenceMatcher(None, old_lines, new_lines, autojunk=False)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        for index in range(max(i2 - i1, j2 - j1)):
            left = old_numbers[i1 + index] if i1 + index < i2 else None
            right = new_numbers[j1 + index] if j1 + index < j2 else None
            yield Row(left, right, tag != "equal")


def _mark(text: Lines, start: int, end: int, marks: Marks) -> None:
    """Note the characters [start, end) as changed, line by line."""
    if start >= end:
        return
    first, column = text.position(start)
    last, end_column = text.position(end)
    for number in range(first, min(last, len(text)) + 1):
        length = len(text.line_text(number))
        low = column - 1 if number == first else 0
        high = end_column - 1 if number == last else length
        if low < min(high, length):
            marks.setdefault(number, []).append((low, min(high, length)))
