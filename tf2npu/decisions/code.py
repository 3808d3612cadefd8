"""The code that decisions change: where findings stand in it, what the converter changes there, and the file with more edits."""

from __future__ import annotations

import dataclasses
import difflib
from typing import Protocol

from tf2npu.findings import Edit, FileResult, Finding, Status
from tf2npu.report.model.changes import splice
from tf2npu.report.model.report import Lines
from tf2npu.scanner.notebooks.notebook import Cell, Notebook
from tf2npu.scanner.notebooks.notebook_path import is_notebook
from tf2npu.scanner.text.source import SourceError, decode
from tf2npu.scanner.tree import parse, python_parses

REWRITTEN = "the converter writes the whole file anew"
CHANGED_LINES = "the converter changes the same lines"


class NotPossible(Exception):
    """A decision cannot be carried out at a place; the text says why, as the end of a sentence."""


class Code(Protocol):
    """Text in which decisions make edits.

    text: the whole of it.  taken: the edits that the converter makes in it.  encoding: of the file.
    """

    text: str
    taken: list[Edit]
    encoding: str

    def line(self, cell: int | None, line: int) -> int:
        """The number in `text` of a line as findings count it.  Raises: NotPossible."""

    def with_edits(self, edits: list[Edit]) -> FileResult:
        """The result of the file with these edits too."""

    def parses(self, edits: list[Edit]) -> bool:
        """Whether the file is still Python with them."""


def code_of(result: FileResult) -> Code | None:
    """The code of a result; None for what cannot be read as code."""
    try:
        return _Cells(result) if is_notebook(result.path) else _Text(result)
    except SourceError:
        return None


class _Text:
    """A file of Python: edits are made in the original text, beside those of the converter."""

    def __init__(self, result: FileResult) -> None:
        self._result, self._source = result, decode(result.before)
        self.text, self.taken, self.encoding = self._source.text, result.edits, self._source.encoding
        converted = self._source.encode(splice(self.text, result.edits)) if result.edits else result.before
        self._is_known = converted == (result.after if result.status is Status.CONVERTED else result.before)

    def line(self, cell: int | None, line: int) -> int:
        if not self._is_known:
            raise NotPossible(REWRITTEN)
        return line

    def with_edits(self, edits: list[Edit]) -> FileResult:
        newline, ends_with_cr = self._source.newline, self._source.ends_with_cr
        added = [dataclasses.replace(e, new=with_line_ends(e.new, "\r" if ends_with_cr else newline)) for e in edits]
        every = [*self.taken, *added]
        after = self._source.encode(splice(self.text, every))
        return dataclasses.replace(self._result, edits=every, after=after, status=Status.CONVERTED)

    def parses(self, edits: list[Edit]) -> bool:
        return _still_parses(self.text, splice(self.text, [*self.taken, *edits]))


class _Cells:
    """A notebook: edits are made in the cells as the converter leaves them, on lines that it does not change."""

    encoding = "utf-8"

    def __init__(self, result: FileResult) -> None:
        self._result = result
        self.taken: list[Edit] = []
        self._after = Notebook(result.after if result.status is Status.CONVERTED else result.before)
        self.text = self._after.code
        self._lines = Lines(self.text)
        self._old = {cell.index: cell for cell in Notebook(result.before).cells}
        self._new = {cell.index: cell for cell in self._after.cells}

    def line(self, cell: int | None, line: int) -> int:
        if cell not in self._old or cell not in self._new:
            raise NotPossible("the cell is no Python that could be read")
        old, new = self._old[cell], self._new[cell]
        return self._lines.position(new.offset)[0] - 1 + _line_afterwards(old, new, line)

    def with_edits(self, edits: list[Edit]) -> FileResult:
        in_order = sorted(
            (dataclasses.replace(e, new=with_line_ends(e.new, "\n")) for e in edits), key=lambda e: (e.start, e.end)
        )
        return dataclasses.replace(self._result, after=self._after.with_edits(in_order), status=Status.CONVERTED)

    def parses(self, edits: list[Edit]) -> bool:
        return _still_parses(self.text, splice(self.text, edits))


def _line_afterwards(old: Cell, new: Cell, line: int) -> int:
    """The line of a converted cell that one of the original cell has become.  Raises: NotPossible for one that was changed."""
    before, after = Lines(old.text).with_ends(), Lines(new.text).with_ends()
    for tag, first, last, moved, _ in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal" and first < line <= last:
            return line - first + moved
    raise NotPossible(CHANGED_LINES)


def range_of(code: Code, lines: Lines, finding: Finding) -> tuple[int, int]:
    """The range of a finding's text in the code. lines: of the code.  Raises: NotPossible where it reads otherwise."""
    span = finding.span
    first, last = code.line(finding.cell, span.line), code.line(finding.cell, span.end_line)
    start, end = lines.offset(first, span.column), lines.offset(last, span.end_column)
    if code.text[start:end] != finding.before:
        raise NotPossible("the place does not read as the finding has it")
    return start, end


def with_line_ends(text: str, newline: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\n", newline)


def _still_parses(before: str, after: str) -> bool:
    """Whether a text is Python; one that this Python did not take before, our own parser has to take."""
    if python_parses(after):
        return True
    if python_parses(before):
        return False
    try:
        parse(after)
    except SourceError:
        return False
    return True
