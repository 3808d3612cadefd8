"""Jupyter notebooks: the code cells as one text, and edits of that text brought back into the JSON without reformatting it."""

from __future__ import annotations

import dataclasses
import json
import re
from dataclasses import dataclass
from json.decoder import JSONDecodeError, JSONDecoder

from tf2npu.findings import Edit, Finding, Level, Span
from tf2npu.scanner.source import SourceError
from tf2npu.scanner.tree import parse, python_parses

_MAGIC = re.compile(r"^([ \t]*)([%!?][^\n]*|[^\n#'\"]*\?\??[ \t]*)$", re.MULTILINE)
_ASSIGNED_MAGIC = re.compile(r"^([ \t]*[\w.,\[\] ]+=[ \t]*)([%!][^\n]*)$", re.MULTILINE)
_CELL_MAGIC = re.compile(r"\s*%%(\w+)")
# Cell magics whose body is still Python of this notebook.
_PYTHON_CELLS = frozenset({"time", "timeit", "capture", "prun", "python", "python3"})
_DECODER = JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n]*")


@dataclass(frozen=True)
class Cell:
    """A code cell: its number, the range of its JSON `source` value, its text and where that starts in the joined code."""

    index: int
    start: int
    end: int
    text: str
    offset: int


class Notebook:
    """A notebook of any 4.x format.

    code: Python of all code cells, magics blanked out at equal length.  skipped: cells that are not Python, with the reason.
    broken: cells that do not parse.
    Raises: SourceError when it is not a notebook.
    """

    def __init__(self, data: bytes) -> None:
        try:
            self.bom = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b""
            self.json = data[len(self.bom) :].decode("utf-8")
            found = _code_cells(self.json)
        except (UnicodeDecodeError, JSONDecodeError, RecursionError) as error:
            raise SourceError(f"not a readable notebook: {error}") from None
        self.cells: list[Cell] = []
        self.skipped: list[tuple[int, str]] = []
        self.broken: list[tuple[int, SourceError]] = []
        self.code = ""
        for index, start, end, text in found:
            self._add(index, start, end, text)

    def _add(self, index: int, start: int, end: int, text: str) -> None:
        magic = _CELL_MAGIC.match(text)
        if magic and magic.group(1) not in _PYTHON_CELLS:
            self.skipped.append((index, f"a %%{magic.group(1)} cell is not Python of this notebook"))
            return
        python = _blank_magics(text)
        if not python_parses(python):  # much faster than our own parser, which may take what this Python does not
            try:
                parse(python)
            except SourceError as error:
                self.broken.append((index, error))
                return
        self.cells.append(Cell(index, start, end, text, len(self.code)))
        self.code += python if python.endswith("\n") else python + "\n"

    def _cell_at(self, offset: int) -> Cell:
        return next(cell for cell in reversed(self.cells) if cell.offset <= offset)

    def relocate(self, finding: Finding) -> Finding:
        """The finding with its span counted inside its cell."""
        starts = [0] + [m.end() for m in re.finditer("\n", self.code)]
        cell = self._cell_at(starts[finding.span.line - 1])
        first = self.code.count("\n", 0, cell.offset)
        span = finding.span
        moved = Span(span.line - first, span.column, span.end_line - first, span.end_column)
        return dataclasses.replace(finding, span=moved, cell=cell.index)

    def cell_findings(self) -> list[Finding]:
        """A finding for each cell that was left alone."""
        skipped = [
            Finding("NPU900", Level.SKIPPED, Span(1, 1, 1, 1), f"Cell {index} not converted: {reason}", cell=index)
            for index, reason in self.skipped
        ]
        broken = []
        for index, error in self.broken:
            span = Span(error.line, error.column, error.line, error.column + 1)
            broken.append(Finding("NPU900", Level.MANUAL, span, f"Cell {index} not converted: {error}", cell=index))
        return skipped + broken

    def with_edits(self, edits: list[Edit]) -> bytes:
        """The notebook with edits of `code` made in its cells; bytes outside the changed cells' sources stay."""
        parts: list[str] = []
        position = 0
        for cell in self.cells:
            own = [e for e in edits if self._cell_at(e.start) is cell]
            if own:
                parts.append(self.json[position : cell.start])
                parts.append(_rewrite(self.json[cell.start : cell.end], cell.text, _edited(cell, own)))
                position = cell.end
        parts.append(self.json[position:])
        return self.bom + "".join(parts).encode("utf-8")


def _edited(cell: Cell, edits: list[Edit]) -> str:
    text, parts, position = cell.text, [], 0
    for edit in edits:
        start, end = (min(o - cell.offset, len(text)) for o in (edit.start, edit.end))
        parts.append(text[position:start] + edit.new)
        position = end
    return "".join(parts) + text[position:]


def _blank_magics(text: str) -> str:
    """Lines that IPython reads, not Python, become the number 0 and a comment of the same length."""
    text = _ASSIGNED_MAGIC.sub(lambda m: m.group(1) + _placeholder(m.group(2)), text)
    return _MAGIC.sub(lambda m: m.group(1) + _placeholder(m.group(2)), text)


def _placeholder(line: str) -> str:
    return "0" if len(line) < 2 else "0#" + line[2:]


def _rewrite(old: str, before: str, after: str) -> str:
    """JSON of a cell's source, a string or a list of lines, with unchanged lines written as they were."""
    is_ascii = old.isascii()
    if not old.startswith("["):
        return json.dumps(after, ensure_ascii=is_ascii)
    literals = _literals(old)
    known = {json.loads(literal): literal for literal in literals}
    lines = [known.get(line) or json.dumps(line, ensure_ascii=is_ascii) for line in after.splitlines(keepends=True)]
    separator = ", "
    if len(literals) > 1:
        first_end = old.index(literals[0]) + len(literals[0])
        separator = old[first_end : old.index(literals[1], first_end)]
    elif "\n" in old:
        separator = "," + old[1 : old.index(literals[0])]
    head = old[: old.index(literals[0])]
    tail = old[old.rindex(literals[-1]) + len(literals[-1]) :]
    return head + separator.join(lines) + tail


def _literals(array: str) -> list[str]:
    found, position = [], 0
    while (quote := array.find('"', position)) >= 0:
        _, position = _DECODER.raw_decode(array, quote)
        found.append(array[quote:position])
    return found


def _code_cells(text: str) -> list[tuple[int, int, int, str]]:
    """Index, range of the `source` value and joined source of every code cell with source."""
    decoder = JSONDecoder()
    top = _members(text, _skip(text, 0), decoder)
    if "cells" not in top:
        raise JSONDecodeError("no cells of a version 4 notebook", text, 0)
    found = []
    for index, start in enumerate(_items(text, top["cells"][0], decoder)):
        cell = _members(text, start, decoder)
        kind = cell.get("cell_type")
        if kind is None or json.loads(text[kind[0] : kind[1]]) != "code" or "source" not in cell:
            continue
        begin, end = cell["source"]
        source = json.loads(text[begin:end])
        joined = source if isinstance(source, str) else "".join(source)
        if joined:
            found.append((index, begin, end, joined))
    return found


def _skip(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _members(text: str, position: int, decoder: JSONDecoder) -> dict[str, tuple[int, int]]:
    """Ranges of the values of a JSON object."""
    if text[position : position + 1] != "{":
        raise JSONDecodeError("an object was expected", text, position)
    found: dict[str, tuple[int, int]] = {}
    position = _skip(text, position + 1)
    while text[position : position + 1] == '"':
        key, position = _DECODER.raw_decode(text, position)
        start = _skip(text, _skip(text, position) + 1)
        _, end = decoder.raw_decode(text, start)
        found[key] = (start, end)
        position = _skip(text, end)
        if text[position : position + 1] == ",":
            position = _skip(text, position + 1)
    return found


def _items(text: str, position: int, decoder: JSONDecoder) -> list[int]:
    """Where the elements of a JSON array start."""
    if text[position : position + 1] != "[":
        raise JSONDecodeError("an array was expected", text, position)
    found: list[int] = []
    position = _skip(text, position + 1)
    while position < len(text) and text[position] != "]":
        found.append(position)
        _, end = decoder.raw_decode(text, position)
        position = _skip(text, end)
        if text[position : position + 1] == ",":
            position = _skip(text, position + 1)
    return found
