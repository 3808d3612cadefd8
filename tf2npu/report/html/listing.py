"""A long list as a page shows it: the first rows as HTML, the rest on further pages, and all of it as data for the script.

A row is made of cells of a few kinds, which a template (`cells.html`) and the script (`assets/list.js`) draw alike. The data are
blocks that a page reads by `<script src>`, since a page from a file:// address may fetch nothing; texts stand in them once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tf2npu.report.languages.language import Catalogue, counted

FIRST_ROWS = 100
"""Rows of the first page, and those that the script draws at a time: a few screens."""
MORE_ROWS = 400
"""Rows of the further pages, which are read without the script: at most 10,000 elements and a megabyte."""
BLOCK_CHARACTERS = 700_000
"""Characters of a data block: below a megabyte also where a text holds more bytes than characters (it is ASCII)."""
MOST_TEXT = 1_500
"""Characters of a text in a list; the page of the file has all of it."""


@dataclass(frozen=True)
class Link:
    """A place: `text` and `suffix` are shown, `href` and `anchor` lead there. Many rows share text and href."""

    text: str
    suffix: str = ""
    href: str = ""
    anchor: str = ""


@dataclass(frozen=True)
class Badges:
    """Words in coloured frames: (word, number in front of it or None)."""

    words: tuple[tuple[str, int | None], ...]


@dataclass(frozen=True)
class Code:
    """A name."""

    text: str


@dataclass(frozen=True)
class Rule:
    """The id of a rule, which leads to what the report says about it."""

    id: str
    href: str


@dataclass(frozen=True)
class Said:
    """A sentence, with code between backquotes."""

    text: str


Cell = Link | Badges | Code | Rule | Said | int
_LETTERS: dict[type, str] = {Link: "l", Badges: "b", Code: "c", Rule: "r", Said: "s", int: "n"}


@dataclass(frozen=True)
class Column:
    """title: in English, as the catalogue has it.  sort: "text", "number" or "" for a column that cannot be sorted."""

    title: str
    sort: str = ""


@dataclass(frozen=True)
class Row:
    """kinds: what the choice above the list looks for.  n_findings, n_places: what the row counts as."""

    cells: tuple[Cell, ...]
    kinds: tuple[str, ...] = ()
    n_findings: int = 1
    n_places: int = 1


@dataclass
class Listing:
    """A list.

    name: of its page and data.  choice: label of the choice above it.  options: words to choose from.  said: how what is shown
    is counted, where findings are as many as places and where they are not.
    """

    name: str
    columns: tuple[Column, ...]
    rows: Sequence[Row]
    choice: str
    options: tuple[str, ...]
    placeholder: str
    said: tuple[str, str]

    def n_pages(self) -> int:
        return 1 + max(0, -(-(len(self.rows) - FIRST_ROWS) // MORE_ROWS))

    def rows_of(self, page: int) -> Sequence[Row]:
        """The rows of a page, from 1."""
        if page == 1:
            return self.rows[:FIRST_ROWS]
        start = FIRST_ROWS + (page - 2) * MORE_ROWS
        return self.rows[start : start + MORE_ROWS]


def page_of_list(name: str, page: int) -> str:
    return f"{name}.html" if page == 1 else f"{name}-{page}.html"


def blocks(listing: Listing, language: Catalogue) -> list[tuple[str, str]]:
    """(name, text) of the data blocks of a list that one page does not hold; none for a shorter one."""
    if listing.n_pages() == 1:
        return []
    encoder = _Encoder(language)
    rows = [script_json(encoder.row(row)) for row in listing.rows]
    texts = [script_json(text) for text in encoder.texts]
    pieces = [*calls("texts", texts), *calls("rows", rows)]
    return [(f"data/{listing.name}-{n}.js", text) for n, text in enumerate(pieces, 1)]


def calls(function: str, items: list[str]) -> Iterator[str]:
    """The texts of blocks that hand items of JSON to a function of the script, each block below a megabyte."""
    group: list[str] = []
    size = 0
    for item in items:
        if group and size + len(item) > BLOCK_CHARACTERS:
            yield f"tf2npu.{function}([{','.join(group)}]);\n"
            group, size = [], 0
        group.append(item)
        size += len(item) + 1
    if group:
        yield f"tf2npu.{function}([{','.join(group)}]);\n"


def script_json(value: Any) -> str:
    """ASCII that can stand in a script, whatever it holds."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")


class _Encoder:
    """Rows as short arrays, texts as their numbers."""

    def __init__(self, language: Catalogue) -> None:
        self._language = language
        self.texts: dict[str, int] = {}
        self._of: dict[type, Callable[[Any], Any]] = {
            Link: lambda c: [self._text(c.text), c.suffix, self._text(c.href), c.anchor],
            Badges: lambda c: [value for word, number in c.words for value in (word, number)],
            Code: lambda c: self._text(c.text),
            Rule: lambda c: [c.id, c.href],
            Said: lambda c: self._text(c.text),
            int: lambda c: c,
        }

    def row(self, row: Row) -> list[Any]:
        return [[self._of[type(cell)](cell) for cell in row.cells], " ".join(row.kinds), row.n_findings, row.n_places]

    def _text(self, text: str) -> int:
        return self.texts.setdefault(shortened(text, self._language), len(self.texts))


def shortened(text: str, texts: Catalogue | None = None) -> str:
    """A text as lists show it: what is left out is counted, in the reader's language or else in English."""
    if len(text) <= MOST_TEXT:
        return text
    left = counted(len(text) - MOST_TEXT, "more character")
    return f"{text[:MOST_TEXT]} ... ({texts.text(left) if texts is not None else left})"


def letters(rows: Sequence[Row]) -> str:
    """The kinds of the cells of a row, a letter each, for the script."""
    return "".join(_LETTERS[type(cell)] for cell in rows[0].cells) if rows else ""
