"""The pages that one file is shown on: a browser gets slow, and a reader lost, where a page is too long."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from dataclasses import dataclass

from tf2npu.findings import Finding
from tf2npu.report.model.anchor import note_line
from tf2npu.report.model.report import FileReport, Lines

MOST_LINES = 1_000
"""Lines of a page: some twenty screens."""
MOST_FINDINGS = 200
"""Findings of a page: each takes some twenty elements, and 10,000 are what a browser lays out in half a second."""
MOST_LINE_CHARACTERS = 2_000
"""Characters of a line that are shown at once: ten rows of a wide screen. Longer lines are data."""
MOST_CHARACTERS = 120_000
"""Characters of a page's lines, so that both columns with their colours stay below a megabyte."""

MOST_PARTS = 50
"""Pages of a file up to which all of it is shown: 50,000 lines. What is longer is data that was written as code."""


@dataclass(frozen=True)
class FilePart:
    """One page of a file: lines of its source from 1, both inclusive, and the numbers of the findings that stand there."""

    first: int
    last: int
    numbers: tuple[int, ...]


def parts_of(file: FileReport) -> list[FilePart]:
    """The pages of a file, at least one; a line with more findings than a page takes is shown on several."""
    source = file.source or ""
    n_lines = n_lines_of(file)
    notes = sorted((row_of_note(file, finding, n_lines), number) for number, finding in enumerate(file.findings, 1))
    if len(notes) <= MOST_FINDINGS and len(source) + _written(file) <= MOST_CHARACTERS and n_lines <= MOST_LINES:
        return [FilePart(1, n_lines, tuple(number for _, number in notes))]
    return _worth_a_page(file, _split(_weights(file), deque(notes)))


def _worth_a_page(file: FileReport, parts: list[FilePart]) -> list[FilePart]:
    """All parts of a file of some; of one of very many, which is data, the first one and those with findings or changes."""
    if len(parts) <= MOST_PARTS:
        return parts
    changed = sorted(change.span.line for change in file.changes)
    spans = [(bisect_left(changed, part.first), bisect_right(changed, part.last)) for part in parts]
    return [part for part, (low, high) in zip(parts, spans, strict=True) if part is parts[0] or part.numbers or low < high]


def n_left_out(parts: list[FilePart], n_lines: int) -> int:
    """Lines of a file that none of its pages shows."""
    return n_lines - len({number for part in parts for number in range(part.first, part.last + 1)})


def row_of_note(file: FileReport, finding: Finding, n_lines: int) -> int:
    """The line of the page's source, which has so many, under which a finding stands."""
    return min(row_of(file, finding.cell, note_line(file, finding)), n_lines)


def row_of(file: FileReport, cell: int | None, line: int) -> int:
    """Line of the page's source that a place belongs to; of a notebook that is counted from its cell."""
    return line if cell is None or cell >= len(file.cell_lines) else file.cell_lines[cell] + line


def part_of_line(parts: list[FilePart], line: int) -> int:
    """Number of the page, from 1, on which a line stands."""
    return next((number for number, part in enumerate(parts, 1) if line <= part.last), len(parts))


def part_of_finding(parts: list[FilePart], number: int) -> int:
    """Number of the page, from 1, on which the finding with this number stands."""
    return next((at for at, part in enumerate(parts, 1) if number in part.numbers), 1)


def n_lines_of(file: FileReport) -> int:
    """Lines of the source of a file's pages, at least one."""
    return max(1, len(Lines(file.source or "")))


def _written(file: FileReport) -> int:
    return sum(len(change.new) for change in file.changes)


def _weights(file: FileReport) -> list[int]:
    """Characters that each line takes on a page, with what is written in its place."""
    lines = Lines(file.source or "")
    weights = [min(len(text), MOST_LINE_CHARACTERS) for text in lines.with_ends()] or [0]
    for change in file.changes:
        row = min(change.span.line, len(weights)) - 1
        weights[row] += min(len(change.new), MOST_LINE_CHARACTERS)
    return weights


def _split(weights: list[int], notes: deque[tuple[int, int]]) -> list[FilePart]:
    parts: list[FilePart] = []
    first = last = 1
    weight, numbers = 0, list[int]()
    for line, own in enumerate(weights, 1):
        if line > first and (line - first >= MOST_LINES or weight + own > MOST_CHARACTERS or len(numbers) >= MOST_FINDINGS):
            parts.append(FilePart(first, last, tuple(numbers)))
            first, weight, numbers = line, 0, []
        last, weight = line, weight + own
        while notes and notes[0][0] <= line:
            if len(numbers) >= MOST_FINDINGS:
                parts.append(FilePart(first, line, tuple(numbers)))
                first, weight, numbers = line, own, []
            numbers.append(notes.popleft()[1])
    return [*parts, FilePart(first, last, tuple(numbers))]
