"""The readable text of a file and the changes to it, of a converter's result for a report."""

from __future__ import annotations

import dataclasses
import difflib
import json
from typing import Any

from tf2npu.findings import Edit, FileResult, Span, Status
from tf2npu.report.model.report import Change, Lines
from tf2npu.scanner.notebooks.notebook_path import is_notebook
from tf2npu.scanner.text.source import SourceError, decode


def changes_of(result: FileResult) -> tuple[str, list[Change]]:
    """The original text and the changes that turn it into the output.

    The converter's own edits are used where they reproduce the output exactly; else lines are compared.
    """
    if is_notebook(result.path):
        before, after = script_of_notebook(result.before), script_of_notebook(result.after)
        return before, _changes_by_cell(result.before, result.after) if result.status is Status.CONVERTED else []
    before, after = text_of(result.before), text_of(result.after)
    if not result.edits or result.before == result.after:
        return before, []
    lines = Lines(before)
    if splice(before, result.edits) == after:
        return before, [Change(e.rule, _span(lines, e.start, e.end), e.new) for e in sorted(result.edits, key=_position)]
    return before, changes_by_line(before, after)


def text_of(data: bytes) -> str:
    """Text of a source file as the converter reads it; of one it refuses, with the odd bytes shown."""
    try:
        source = decode(data)
        return source.text.replace("\n", "\r") if source.ends_with_cr else source.text
    except SourceError:
        return data.decode("utf-8", "backslashreplace")


def splice(text: str, edits: list[Edit]) -> str:
    """`text` with all edits applied."""
    pieces, at = [], 0
    for edit in sorted(edits, key=_position):
        pieces += [text[at : edit.start], edit.new]
        at = edit.end
    return "".join([*pieces, text[at:]])


def offsets_of(lines: Lines, change: Change) -> Edit:
    """The change as character offsets into the text."""
    span = change.span
    start, end = lines.offset(span.line, span.column), lines.offset(span.end_line, span.end_column)
    return Edit(start, max(start, end), change.new, change.rule)


def changes_by_line(before: str, after: str) -> list[Change]:
    """Whole changed lines, for texts whose edits are not known."""
    lines = Lines(before)
    old, new = lines.with_ends(), Lines(after).with_ends()
    starts = [*lines.starts[: len(old)], len(before)]
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    return [
        Change("", _span(lines, starts[i1], starts[i2]), "".join(new[j1:j2]))
        for tag, i1, i2, j1, j2 in matcher.get_opcodes()
        if tag != "equal"
    ]


def _changes_by_cell(before: bytes, after: bytes) -> list[Change]:
    """Whole changed lines of a notebook, whose cells are compared one by one, as a conversion neither adds nor takes out any."""
    found: list[Change] = []
    line = 0
    for index, (old, new) in enumerate(zip(_cells(before), _cells(after), strict=True)):
        text, converted = _cell_text(index, old), _cell_text(index, new)
        for change in changes_by_line(text, converted) if text != converted else ():
            span = change.span
            moved = Span(span.line + line, span.column, span.end_line + line, span.end_column)
            found.append(dataclasses.replace(change, span=moved))
        line += len(Lines(text))
    return found


def script_of_notebook(data: bytes) -> str:
    """A notebook's cells one below the other, each under a "# %% [cell N: kind]" line (the percent format).

    The cell's own lines start below that line: see `cell_lines`.
    """
    return "".join(_cell_text(index, cell) for index, cell in enumerate(_cells(data)))


def cell_lines(data: bytes) -> list[int]:
    """Line of `script_of_notebook(data)` above which line 1 of each cell stands."""
    starts, at = [], 0
    for index, cell in enumerate(_cells(data)):
        starts.append(at + 1)
        at += len(Lines(_cell_text(index, cell)))
    return starts


def _cells(data: bytes) -> list[Any]:
    try:
        cells = json.loads(data)["cells"]
        return cells if isinstance(cells, list) else []
    except (ValueError, KeyError, TypeError, RecursionError):
        return []  # not a notebook we can show; the converter's finding says so


def _cell_text(index: int, cell: Any) -> str:
    cell = cell if isinstance(cell, dict) else {}
    source = cell.get("source", "")
    text = "".join(map(str, source)) if isinstance(source, list) else str(source)
    kind = str(cell.get("cell_type", "code"))
    if kind != "code":
        text = "".join(f"# {line}\n" for line in text.split("\n"))
    return f"# %% [cell {index}: {kind}]\n{text}" + ("" if not text or text.endswith("\n") else "\n")


def _position(edit: Edit) -> tuple[int, int]:
    return edit.start, edit.end


def _span(lines: Lines, start: int, end: int) -> Span:
    return Span(*lines.position(start), *lines.position(end))
