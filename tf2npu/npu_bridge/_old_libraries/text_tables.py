"""``numpy.loadtxt`` with a delimiter of several characters, which numpy refuses since 1.23."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from typing import Any

import numpy
from npu_bridge._log import once
from npu_bridge._tf1.journal import Journal

_SEPARATOR = "\x1f"  # ASCII's own sign between units, which no table of numbers has


def add(journal: Journal) -> None:
    """Let ``numpy.loadtxt`` take such delimiters as "::" again. Source: release notes of numpy 1.23."""
    original = numpy.loadtxt

    @functools.wraps(original)
    def loadtxt(fname: Any, dtype: Any = float, comments: Any = "#", delimiter: Any = None, *args: Any, **kwargs: Any) -> Any:
        delimiter = delimiter.decode("latin1") if isinstance(delimiter, bytes) else delimiter
        if isinstance(delimiter, str) and len(delimiter) > 1:
            once("numpy.loadtxt takes no delimiter of several characters since this script was written; here it does")
            fname, delimiter = _split_anew(fname, delimiter), _SEPARATOR
        return original(fname, dtype, comments, delimiter, *args, **kwargs)

    journal.set(vars(numpy), "loadtxt", loadtxt)


def _split_anew(table: Any, delimiter: str) -> Iterator[str]:
    """The lines of a file's path, of an open file or of a list, with one character in the delimiter's place."""
    if isinstance(table, str | os.PathLike):
        with numpy.lib._datasource.open(os.fspath(table), "rt") as file:
            yield from _split_anew(file, delimiter)
        return
    for line in table:
        text = line.decode("latin1") if isinstance(line, bytes) else line
        yield text.replace(delimiter, _SEPARATOR)
