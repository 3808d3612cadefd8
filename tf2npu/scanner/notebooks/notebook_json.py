"""The JSON of a notebook: where the sources of its code cells stand, or why it cannot be read."""

from __future__ import annotations

import codecs
import json
import re
from dataclasses import dataclass, field
from json.decoder import JSONDecodeError, JSONDecoder
from typing import Any

from tf2npu.scanner.text.source import MERGE_MARKER, UNRESOLVED, SourceError

_LFS_POINTER = re.compile(r"version https://git-lfs\.")
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
_FIRST_WITH_CELLS = 4
"""The first version of the notebook format whose cells stand at the top."""
_DECODER = JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n]*")


@dataclass
class NotebookText:
    """The text of a notebook, apart from a byte order mark.

    sources: index, range of the `source` value and joined source of every code cell with source.  odd: cells whose source
    cannot be read, with the reason.  language: what its kernel runs, "" where that is not said.
    """

    bom: bytes
    text: str
    n_cells: int = 0
    language: str = ""
    sources: list[tuple[int, int, int, str]] = field(default_factory=list)
    odd: list[tuple[int, str]] = field(default_factory=list)


def read_notebook(data: bytes) -> NotebookText:
    """Read a notebook of any 4.x format.

    Raises: SourceError with the place in the file for anything else.
    """
    bom = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    read = NotebookText(bom, _decoded(data[len(bom) :]))
    try:
        return _read(read, _content(read.text))
    except RecursionError:
        raise SourceError("not a readable notebook: its JSON is nested too deeply") from None


def _read(read: NotebookText, content: dict[str, Any]) -> NotebookText:
    """Fill in what stands in the cells."""
    cells = content["cells"]
    read.n_cells, read.language = len(cells), _language(content.get("metadata"))
    top = _members(read.text, _skip(read.text, 0))
    for index, start in enumerate(_items(read.text, top["cells"][0])):
        cell = cells[index]
        if not isinstance(cell, dict):
            read.odd.append((index, "it is no JSON object"))
        elif cell.get("cell_type") == "code":
            source = _joined(cell.get("source"))
            if source is None:
                read.odd.append((index, "its source is no text"))
            elif source:
                read.sources.append((index, *_members(read.text, start)["source"], source))
    return read


def _decoded(data: bytes) -> str:
    if data.startswith(_WIDE):
        raise SourceError("not a readable notebook: the file is not encoded in UTF-8, which notebooks are")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise SourceError(f"not a readable notebook: byte 0x{data[error.start]:02x} is not valid utf-8", line, column) from None


def _content(text: str) -> dict[str, Any]:
    """The notebook as an object with a list of cells."""
    if not text.strip():
        raise SourceError("not a readable notebook: the file is empty")
    if _LFS_POINTER.match(text):
        raise SourceError("not a readable notebook: this is a pointer of Git LFS; fetch the notebook itself with `git lfs pull`")
    try:
        content = json.loads(text)
    except JSONDecodeError as error:
        raise _broken(text, error) from None
    except ValueError:  # of Python's own integers
        raise SourceError("not a readable notebook: a number in its JSON has too many digits") from None
    if not isinstance(content, dict):
        raise SourceError("not a readable notebook: its JSON is no object with cells")
    version = content.get("nbformat", _FIRST_WITH_CELLS)
    is_said_older = type(version) is int and version < _FIRST_WITH_CELLS
    if is_said_older or ("worksheets" in content and "cells" not in content):
        raise SourceError(
            f"a notebook of format {version if is_said_older else _FIRST_WITH_CELLS - 1}, which is older than 4: bring it to "
            "that first, with `jupyter nbconvert --to notebook --inplace FILE`"
        )
    if not isinstance(content.get("cells"), list):
        raise SourceError("not a readable notebook: it has no list of cells")
    return content


def _broken(text: str, error: JSONDecodeError) -> SourceError:
    marker = MERGE_MARKER.search(text)
    if marker is not None:
        line = text.count("\n", 0, marker.start()) + 1
        return SourceError(UNRESOLVED, line)
    return SourceError(f"not a readable notebook: broken JSON ({error.msg})", error.lineno, error.colno)


def _joined(source: Any) -> str | None:
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        return "".join(source)
    return source if isinstance(source, str) else None


def _language(metadata: Any) -> str:
    for key, name in (("language_info", "name"), ("kernelspec", "language")):
        part = metadata.get(key) if isinstance(metadata, dict) else None
        if isinstance(part, dict) and isinstance(part.get(name), str):
            return str(part[name])
    return ""


def literals(array: str) -> list[str]:
    """The strings of a JSON array, as they are written."""
    found, position = [], 0
    while (quote := array.find('"', position)) >= 0:
        _, position = _DECODER.raw_decode(array, quote)
        found.append(array[quote:position])
    return found


def _skip(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _members(text: str, position: int) -> dict[str, tuple[int, int]]:
    """Ranges of the values of a JSON object; of those with one key, of the last, which is the one that counts."""
    found: dict[str, tuple[int, int]] = {}
    position = _skip(text, position + 1)
    while text[position : position + 1] == '"':
        key, position = _DECODER.raw_decode(text, position)
        start = _skip(text, _skip(text, position) + 1)
        _, end = _DECODER.raw_decode(text, start)
        found[key] = (start, end)
        position = _after_comma(text, end)
    return found


def _items(text: str, position: int) -> list[int]:
    """The offsets at which the elements of a JSON array start."""
    found: list[int] = []
    position = _skip(text, position + 1)
    while position < len(text) and text[position] != "]":
        found.append(position)
        _, end = _DECODER.raw_decode(text, position)
        position = _after_comma(text, end)
    return found


def _after_comma(text: str, position: int) -> int:
    position = _skip(text, position)
    return _skip(text, position + 1) if text[position : position + 1] == "," else position
