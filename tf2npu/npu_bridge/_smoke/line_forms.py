"""The form of the lines that a script reads, told by the function that reads them and by the script's own text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import Any

import numpy as np

N_COLUMNS = 10
"""Columns of lines of which nothing tells the number."""
_SPLIT = re.compile(
    r"split\(\s*['\"]([^'\"]{1,3})['\"]\s*\)|delimiter\s*=\s*['\"]([^'\"]{1,3})['\"]|sep\s*=\s*['\"]([^'\"]{1,3})['\"]"
)
_NUMBERS = re.compile(
    r"\b(?:int|float|eval)\(|map\((?:int|float)|astype\(|np\.(?:int|float)\w*\(|dtype\s*=\s*(?:np\.)?(?:int|float)|loadtxt|genfromtxt"
)
_NEAR_LINES = 6
"""Lines behind the one that opens a file in which a script most likely parts what it reads."""
_PARTED_TWICE = re.compile(r"split\(\s*(?:['\"] ['\"])?\s*\)")
_FIRST_IS_FILE = re.compile(r"path\.join\([^()]*\[0\]\)")
_IMAGE = re.compile(r"\.(?:jpe?g|png)\b")
_GAPS = re.compile(r"-DOCSTART-|len\(line\)\s*==\s*0|\bif not line\b|line\s*==\s*['\"](?:\\n)?['\"]")
"""Questions about the lines of a text whose words have a line each, as those of the tasks of CoNLL have."""
_FILES, _TEXT_LINES = 20, 9
_TAGS = re.compile(r"(?i)(?:^|/)(?:vocab[._-])?tags?(?:[._-]vocab)?\.txt$")
_OF_CONLL = ("O", *(f"{place}-{kind}" for kind in ("PER", "LOC", "ORG", "MISC") for place in "BI"))
"""The tags of the task of CoNLL 2003, as a list of tags has them."""
_LIST = re.compile(r"ImageSets/")
"""Lists of names of files, one a line, as the development kit of the PASCAL VOC challenge has them."""
_PAIRS = re.compile(r"(?i)\.(?:libfm|libsvm|svm|libffm)$")
_ESCAPES = {"\\t": "\t", "\\n": "", "\n": "", "\\s+": " "}
_READERS = {"read_csv": "pandas", "read_table": "pandas", "loadtxt": "numpy", "genfromtxt": "numpy"}


@dataclass(frozen=True)
class LineForm:
    """names: of the columns, for a first line; empty for none.  labels: of the columns of lines without such a line.  n_columns:
    of a line.  has_pairs: a label and "number:number".

    has_numbers: the columns are numbers, else words.  is_table: there are columns.  n_heads: lines with the names, if there are
    any.  lists: what parts the numbers of a cell, by the name of the column.  file_suffix: of the names of files that the first
    column holds, None where it holds none.  has_gaps: empty lines part texts.  entries: the lines themselves.
    """

    delimiter: str = " "
    n_columns: int = N_COLUMNS
    names: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    has_numbers: bool = False
    has_pairs: bool = False
    is_table: bool = False
    n_heads: int = 1
    lists: Mapping[str, str] = field(default_factory=dict)
    file_suffix: str | None = None
    has_gaps: bool = False
    entries: tuple[str, ...] = ()

    def taught(self, lesson: Mapping[str, Any]) -> LineForm:
        """This form with what an earlier attempt has taught."""
        named = {**lesson, **({"names": tuple(lesson["names"])} if "names" in lesson else {})}
        return replace(self, **named)

    @property
    def has_columns(self) -> bool:
        """Whether lines are parted into columns, and are no sentences."""
        return (
            bool(self.entries) or self.is_table or self.has_numbers or self.has_pairs or bool(self.names) or self.delimiter != " "
        )

    def lines(self, n: int, words: list[str]) -> list[str]:
        """Lines of this form."""
        draw = np.random.default_rng(0)
        if self.entries:
            return [*self.names, *self.entries]
        if self.has_pairs:
            return [f"{draw.integers(0, 2)} {draw.integers(1, 9)}:1 {draw.integers(9, 19)}:1" for _ in range(n)]
        head = [self.delimiter.join(self.names)] * self.n_heads if self.names else []
        cells = draw.integers(0, 2, (n, self.n_columns)) if self.has_numbers else draw.choice(words, (n, self.n_columns))
        rows = cells.astype(object)
        labels = self.names or self.labels
        for name, delimiter in self.lists.items():
            if name in labels:
                rows[:, labels.index(name)] = [delimiter.join(row) for row in draw.integers(0, 2, (n, N_COLUMNS)).astype(str)]
        if self.file_suffix is not None:
            rows[:, 0] = [f"{number % _FILES:05d}{self.file_suffix}" for number in range(n)]
        made = [self.delimiter.join(map(str, row)) for row in rows]
        if self.has_gaps:
            made[_TEXT_LINES :: _TEXT_LINES + 1] = [""] * len(made[_TEXT_LINES :: _TEXT_LINES + 1])
        return [*head, *made]


SENTENCES = LineForm()
"""Words, as many as they are."""


def reader_of_lines(frames: list[FrameType]) -> FrameType | None:
    """The function of a library that reads lines, among those that have been called; None for none."""
    return next((frame for frame in frames if frame.f_code.co_name in _READERS), None)


def form_of_lines(path: str, frames: list[FrameType], source: str, line: int) -> LineForm:
    """The form of a file's lines.

    frames: of its readers, the innermost first.  source: the text of the script's file, which asks for it in a line.
    """
    if _PAIRS.search(path):
        return LineForm(has_pairs=True)
    if _TAGS.search(path):
        return LineForm(n_columns=1, entries=_OF_CONLL)
    if _LIST.search(path):
        return LineForm(n_columns=1, is_table=True, file_suffix="")
    reader = reader_of_lines(frames)
    if reader is not None:
        return _of_reader(reader.f_locals, _READERS[reader.f_code.co_name], source)
    near = "\n".join(source.splitlines()[max(0, line - 1) : line + _NEAR_LINES])
    delimiter = "," if path.endswith(".csv") else "\t" if path.endswith(".tsv") else _delimiter(near, source)
    if delimiter == ":" and _PARTED_TWICE.search(near):
        return LineForm(has_pairs=True)
    image = _IMAGE.search(source) if _FIRST_IS_FILE.search(source) else None
    has_gaps = _GAPS.search(near) is not None
    has_numbers = _NUMBERS.search(source) is not None and not has_gaps
    return LineForm(
        delimiter, has_numbers=has_numbers, is_table=has_gaps, file_suffix=image[0] if image else None, has_gaps=has_gaps
    )  # fmt: skip


def _delimiter(near: str, source: str) -> str:
    """The text by which lines are parted: where they are read, else the one that is met most; a blank where nothing tells."""
    for text in (near, source):
        found = Counter(_ESCAPES.get(text, text) for match in _SPLIT.findall(text) for text in match if text)
        found.pop("", None)
        if found:
            return found.most_common(1)[0][0]
        if text is near and ".split()" in text:
            return " "
    return " "


def keys_of_arrays(source: str, line: int) -> tuple[str, ...]:
    """The names of the arrays that a script takes from a file that it opens in a line."""
    near = "\n".join(source.splitlines()[max(0, line - 1) : line + _NEAR_LINES])
    return tuple(dict.fromkeys(re.findall(r"[\])\w]\[\s*['\"](\w{1,40})['\"]\s*\]", near)))


def _of_reader(named: dict[str, Any], library: str, source: str) -> LineForm:
    """The form that arguments of pandas' or numpy's reader tell."""
    delimiter = named.get("sep") if library == "pandas" else named.get("delimiter")
    if not isinstance(delimiter, str):
        delimiter = "," if library == "pandas" else " "
    delimiter = _ESCAPES.get(delimiter, delimiter)
    names = named.get("names") if library == "pandas" else None
    if isinstance(names, (list, tuple)) and names:
        return LineForm(delimiter, len(names), labels=tuple(map(str, names)), has_numbers=True)
    if library == "numpy" or named.get("header", 0) is None:
        return LineForm(delimiter, has_numbers=True)
    used = named.get("usecols")
    wanted = [str(one) for one in used] if isinstance(used, (list, tuple)) else _columns_in(source)
    return LineForm(delimiter, len(wanted), tuple(wanted), has_numbers=True)


def _columns_in(source: str) -> list[str]:
    """Names by which a script takes columns, in the order in which they come; some that are made up where there are none."""
    found = dict.fromkeys(re.findall(r"\[\[?\s*['\"]([^'\"\n]{1,40})['\"]", source))
    return list(found)[:100] or [f"column{number}" for number in range(N_COLUMNS)]
