"""Cells of a notebook that was written for a kernel of Python 2, as cells of Python 3."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from tf2npu.python2.divisions import END_OF_CELL, open_divisions
from tf2npu.python2.fixers import Refused, has_gone_builtins, python3_error, refactored
from tf2npu.scanner.notebooks.cells import Notebook, magics_back, without_magics
from tf2npu.scanner.text.source import Python2Error, SourceError

_FUTURE = re.compile(r"^[ \t]*from[ \t]+__future__[ \t]+import[ \t]+\(?([\w ,]+)", re.MULTILINE)
_END = END_OF_CELL + " {}:\n"
"""A line behind each cell; the fixers leave comments where they are."""


@dataclass(frozen=True)
class ModernNotebook:
    """A notebook brought to Python 3.

    cells: text before and after, by the number of the cell.  refusals: why nothing could be done, by cell.  divided: lines of
    the new texts, by cell, with divisions that may be of whole numbers.
    """

    data: bytes
    cells: dict[int, tuple[str, str]]
    refusals: dict[int, str]
    divided: dict[int, list[int]]


@lru_cache(maxsize=8)
def modern_notebook(data: bytes) -> ModernNotebook | None:
    """The notebook for Python 3; None where there is no cell that only Python 2 reads.

    One kernel runs all cells, so that one such cell tells of all of them: what a name is in one it is in the next.
    """
    try:
        notebook = Notebook(data)
    except (SourceError, RecursionError, MemoryError):
        return None  # the converter says what is wrong with it
    unread = {index for index, _, error in notebook.broken if isinstance(error, Python2Error)}
    taken = unread | {cell.index for cell in notebook.cells}
    texts = {index: text for index, _, _, text in notebook.sources if index in taken}
    plain = {index: without_magics(text) for index, text in texts.items()}
    if not unread and not any(_has_gone_builtins(text) for text, _ in plain.values()):
        return None
    joined, refusals = _brought_to_python3({index: text for index, (text, _) in plain.items()})
    after = {index: magics_back(text, plain[index][1]) for index, text in joined.items()}
    divided = {} if _asks_for(texts.values(), "division") else _divided(joined, {i: magics for i, (_, magics) in plain.items()})
    changed = {index: text for index, text in after.items() if text != texts[index]}
    return ModernNotebook(notebook.with_texts(changed), {i: (texts[i], after[i]) for i in after}, refusals, divided)


def _has_gone_builtins(text: str) -> bool:
    return python3_error(text) is None and has_gone_builtins(text)


def _brought_to_python3(texts: dict[int, str]) -> tuple[dict[int, str], dict[int, str]]:
    """The cells for Python 3, and why some are not; together, or without those that cannot be brought there alone."""
    try:
        return _refactored(texts), {}
    except Refused:
        refusals = {}
    for index, text in texts.items():
        try:
            _refactored({index: text})
        except Refused as refused:
            refusals[index] = str(refused)
    left = {index: text for index, text in texts.items() if index not in refusals}
    try:
        return _refactored(left), refusals
    except Refused as refused:
        return {}, {**dict.fromkeys(left, str(refused)), **refusals}


def _refactored(texts: dict[int, str]) -> dict[int, str]:
    """Cells as one program, which begins with what any of them wants of the future.  Raises: Refused."""
    features = sorted({name for name in ("division", "print_function", "unicode_literals") if _asks_for(texts.values(), name)})
    head = f"from __future__ import {', '.join(features)}\n" if features else ""
    program = head + "".join(f"{text}\n{_END.format(index)}" for index, text in texts.items())
    after, found = refactored(program).removeprefix(head), {}
    for index in texts:
        text, _, after = after.partition(_END.format(index))
        found[index] = text.removesuffix("\n")
    return found


def _asks_for(texts: Iterable[str], feature: str) -> bool:
    """Whether a cell imports a feature of Python 3 from the future."""
    return any(feature in names for text in texts for names in _FUTURE.findall(text))


def _divided(texts: dict[int, str], magics: dict[int, list[str]]) -> dict[int, list[int]]:
    """Lines, from 1, of cells with divisions that may be of whole numbers; texts: with marks for lines of IPython."""
    found: dict[int, list[int]] = {}
    lines = set(open_divisions("".join(f"{text}\n" for text in texts.values()), in_order=False))
    first = 1
    for index, text in texts.items():
        own = text.split("\n")
        at = [line - first for line in sorted(lines) if first <= line < first + len(own)]
        found[index] = [magics_back("\n".join([*own[:n], ""]), magics[index]).count("\n") + 1 for n in at]
        first += len(own)
    return found
