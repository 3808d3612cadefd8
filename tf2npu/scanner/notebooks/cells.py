"""Jupyter notebooks: the code cells as one text, and edits of that text brought back into the JSON without reformatting it."""

from __future__ import annotations

import bisect
import dataclasses
import json
import re
from collections.abc import Callable
from dataclasses import dataclass

from tf2npu.findings import Edit, Finding, Level, Span, doc_of
from tf2npu.scanner.notebooks.json_source import literals, read_notebook
from tf2npu.scanner.notebooks.path import is_notebook
from tf2npu.scanner.text.nesting_guard import NESTED_PARENTHESES, is_too_deep
from tf2npu.scanner.text.source import OR_PYTHON2, Python2Error, SourceError
from tf2npu.scanner.tree import TOO_DEEP, TooDeepError, parse, python_parses, refused_by_python

_TO_ITS_END = r"(?:[^\n]*\\\n)*[^\n]*"  # a line for IPython goes on behind a backslash
_MAGIC = re.compile(rf"^([ \t]*)([%!?]{_TO_ITS_END}|[^\n#'\"]*\?\??[ \t]*)$", re.MULTILINE)
_ASSIGNED_MAGIC = re.compile(rf"^([ \t]*[\w.,\[\] ]+=[ \t]*)([%!]{_TO_ITS_END})$", re.MULTILINE)
_CELL_MAGIC = re.compile(r"(?:\s*#[^\n]*\n)*\s*%%(\w+)([^\n]*)")  # Colab takes comments above it
_INDENTED = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\n)*[ \t]+[^\s#]")  # IPython takes this indentation out
_IMPORTS = re.compile(r"^[ \t]*(?:import|from)[ \t]", re.MULTILINE)  # what is imported there would have to stand in the block
_BLOCK = "if 1:\n"
_MARK = "0#:{}:IPython"
"""Python that stands for a line of IPython; the number ends where the mark goes on, so that no mark begins another."""
# Cell magics whose body is still Python of this notebook, those that write it to a file, and those of other languages.
_PYTHON_CELLS = frozenset({"time", "timeit", "capture", "prun", "python", "python3", "local", "spark"})
_FILE_CELLS = frozenset({"writefile", "file"})
_OTHER_CELLS = frozenset({
    "bash", "bigquery", "html", "HTML", "javascript", "js", "latex", "markdown", "perl", "R", "ruby", "script", "sh",
    "shell", "sql", "svg", "SVG", "system",
})  # fmt: skip
_LANGUAGES = frozenset({"", "python", "python2", "python3", "ipython", "pyspark", "pyspark3"})


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
    broken: cells that do not parse, with their text.  other_language: what the notebook is written in, "" for Python.
    Raises: SourceError when it is not a notebook.
    """

    def __init__(self, data: bytes) -> None:
        read = read_notebook(data)
        self.bom, self.json, self.n_cells, self.sources = read.bom, read.text, read.n_cells, read.sources
        self.cells: list[Cell] = []
        self.skipped: list[tuple[int, str]] = list(read.odd)
        self.broken: list[tuple[int, str, SourceError]] = []
        self._code: list[str] = []
        self._length = 0
        self.other_language = read.language if read.language.lower() not in _LANGUAGES else ""
        for index, start, end, text in read.sources if not self.other_language else ():
            self._add(index, start, end, text)
        self.code = "".join(self._code)
        self._offsets = [cell.offset for cell in self.cells]
        self._line_starts = [0] + [m.end() for m in re.finditer("\n", self.code)]

    def _add(self, index: int, start: int, end: int, text: str) -> None:
        magic = _CELL_MAGIC.match(text)
        if magic and magic.group(1) not in _PYTHON_CELLS:
            self.skipped += [(index, reason) for reason in _why_not_python(*magic.groups())]
            return
        has_magics = _MAGIC.search(text) or _ASSIGNED_MAGIC.search(text)
        python = _blank_magics(text) if has_magics and not python_parses(text) else text
        if not python_parses(python):  # much faster than our own parser, which may take what this Python does not
            if _INDENTED.match(python) and not _IMPORTS.search(python) and python_parses(_BLOCK + python):
                self._write(_BLOCK)
            elif not self._is_taken(index, text, python):
                return
        self.cells.append(Cell(index, start, end, text, self._length))
        self._write(python if python.endswith("\n") else python + "\n")

    def _write(self, code: str) -> None:
        self._code.append(code)
        self._length += len(code)

    def _is_taken(self, index: int, text: str, python: str) -> bool:
        """Whether our own parser takes a cell that this Python does not; the cell is noted where it does not."""
        try:
            error = refused_by_python(python)
            if (error is None or NESTED_PARENTHESES in str(error)) and is_too_deep(python):  # Python's parser has given up
                raise TooDeepError(TOO_DEEP)
            parse(python)
        except SourceError as error:
            self.broken.append((index, text, error))
            return False
        return True

    def _number_at(self, offset: int) -> int:
        """The position in `cells` of the one that holds an offset of `code`."""
        return bisect.bisect_right(self._offsets, offset) - 1

    def relocate(self, finding: Finding) -> Finding:
        """The finding with its span counted inside its cell."""
        span = finding.span
        cell, line = self.place(span.line)
        moved = Span(line, span.column, span.end_line - span.line + line, span.end_column)
        return dataclasses.replace(finding, span=moved, cell=cell)

    def place(self, line: int) -> tuple[int, int]:
        """The number of the cell that a line of `code` is in, and that line's number there."""
        cell = self.cells[self._number_at(self._line_starts[line - 1])]
        return cell.index, line - bisect.bisect_right(self._line_starts, cell.offset) + 1

    def line_of(self, cell: int | None, line: int) -> int:
        """The line of `code` that one of a cell is; 0 for a cell without Python."""
        offset = next((own.offset for own in self.cells if own.index == cell), None)
        return 0 if offset is None else bisect.bisect_right(self._line_starts, offset) + line - 1

    def cell_findings(self, is_concerned: Callable[[str], bool]) -> list[Finding]:
        """A finding for each cell that was left alone; for one that does not parse, where its text may concern a framework."""
        if not self.n_cells:
            return [_no_cells()]
        broken = []
        for index, error in [(index, error) for index, text, error in self.broken if is_concerned(text)]:
            span = Span(error.line, error.column, error.line, error.column + 1)
            reason = f"{error}{OR_PYTHON2}" if isinstance(error, Python2Error) else str(error)
            broken.append(
                Finding(
                    "NPU900", Level.MANUAL, span, f"Cell {index} was not converted: {reason}", doc=doc_of("NPU900"), cell=index
                )
            )
        if self.other_language:
            message = f"Not converted: the notebook is written in {self.other_language}."
            return [Finding("NPU900", Level.INFO, Span(1, 1, 1, 1), message, doc=doc_of("NPU900"))]
        return _said_of_odd(self.skipped) + broken

    def with_edits(self, edits: list[Edit]) -> bytes:
        """The notebook with edits of `code` made in its cells; bytes outside the changed cells' sources stay."""
        own: dict[int, list[Edit]] = {}
        for edit in edits:
            own.setdefault(self._number_at(edit.start), []).append(edit)
        cells = {number: self.cells[number] for number in own}
        return self.with_texts({cell.index: _edited(cell, own[number]) for number, cell in cells.items()})

    def with_texts(self, texts: dict[int, str]) -> bytes:
        """The notebook with other texts for cells, by their index; bytes outside these cells' sources stay."""
        parts: list[str] = []
        position = 0
        for index, start, end, text in self.sources:
            if index in texts:
                parts += [self.json[position:start], _rewrite(self.json[start:end], text, texts[index])]
                position = end
        return self.bom + "".join([*parts, self.json[position:]]).encode("utf-8")


def why_nothing_was_seen(path: str, data: bytes) -> list[Finding]:
    """Findings on what keeps a notebook or its cells from being read, so that a framework may be missed; or that it is empty."""
    if not is_notebook(path):
        return []
    try:
        read = read_notebook(data)
    except SourceError as error:
        span = Span(error.line, error.column, error.line, error.column + 1)
        return [Finding("NPU900", Level.INFO, span, f"Not converted: {error}", doc=doc_of("NPU900"))]
    return _said_of_odd(read.odd) if read.n_cells else [_no_cells()]


def _no_cells() -> Finding:
    message = "Not converted: the notebook has no cells."
    return Finding("NPU900", Level.INFO, Span(1, 1, 1, 1), message, doc=doc_of("NPU900"))


def _said_of_odd(cells: list[tuple[int, str]]) -> list[Finding]:
    """A finding for each cell that was left alone, with the reason."""
    return [
        Finding(
            "NPU900",
            Level.SKIPPED,
            Span(1, 1, 1, 1),
            f"Cell {index} was not converted: {reason}",
            doc=doc_of("NPU900"),
            cell=index,
        )
        for index, reason in cells
    ]


def _edited(cell: Cell, edits: list[Edit]) -> str:
    text, parts, position = cell.text, [], 0
    for edit in edits:
        start, end = (min(o - cell.offset, len(text)) for o in (edit.start, edit.end))
        parts.append(text[position:start] + edit.new)
        position = end
    return "".join(parts) + text[position:]


def without_magics(text: str) -> tuple[str, list[str]]:
    """A cell's text with a numbered mark for each line that IPython reads, and those lines; none where Python reads it all."""
    magics: list[str] = []
    if python_parses(text):
        return text, magics

    def mark(command: str) -> str:
        magics.append(command)
        return _MARK.format(len(magics) - 1)

    return _with_magics(text, mark), magics


def magics_back(text: str, magics: list[str]) -> str:
    """The text with the lines that marks stand for."""
    for number, magic in enumerate(magics):
        text = text.replace(_MARK.format(number), magic)
    return text


def _blank_magics(text: str) -> str:
    """Lines that IPython reads, not Python, become the number 0 and a comment of the same length."""
    return _with_magics(text, _placeholder)


def _with_magics(text: str, stand_in: Callable[[str], str]) -> str:
    """The text with something else for each line that IPython reads."""

    def put(found: re.Match[str]) -> str:
        return found[1] + stand_in(found[2])

    return _MAGIC.sub(put, _ASSIGNED_MAGIC.sub(put, text))


def _placeholder(command: str) -> str:
    line, *more = command.split("\n")
    return "\n".join(["0" if len(line) < 2 else "0#" + line[2:], *(further and "#" + further[1:] for further in more)])


def _why_not_python(magic: str, arguments: str) -> list[str]:
    """The reasons that a cell's text is not run as Python of the notebook; none where it cannot be Python."""
    if magic in _FILE_CELLS:
        command = f"%%{magic} {arguments.strip()}"
        return [f"{command} writes a file: convert that file"] if command.endswith((".py", ".pyw")) else []
    return [] if magic in _OTHER_CELLS else [f"a %%{magic} cell is not Python of this notebook"]


def _rewrite(old: str, before: str, after: str) -> str:
    """JSON of a cell's source, a string or a list of lines, with unchanged lines written as they were."""
    is_ascii = old.isascii()
    if not old.startswith("["):
        return json.dumps(after, ensure_ascii=is_ascii)
    written = literals(old)
    known = {json.loads(literal): literal for literal in written}
    lines = [known.get(line) or json.dumps(line, ensure_ascii=is_ascii) for line in after.splitlines(keepends=True)]
    separator = ", "
    if len(written) > 1:
        first_end = old.index(written[0]) + len(written[0])
        separator = old[first_end : old.index(written[1], first_end)]
    elif "\n" in old:
        separator = "," + old[1 : old.index(written[0])]
    head = old[: old.index(written[0])]
    tail = old[old.rindex(written[-1]) + len(written[-1]) :]
    return head + separator.join(lines) + tail
