"""Pages of the vendor's list of native APIs: one Markdown file a module of PyTorch, one entry an API.

An entry begins with a heading `### NAME`, one of a class's members with `> <font size="3">NAME</font>`. Then come a table with
a row for each family of chips, and maybe a paragraph of limits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

HEADING = re.compile(r"### (?:<code><i>\w+</i></code> )?(?P<name>\S+)\s*$")
MEMBER = re.compile(r'> <font size="3">(?P<name>[^<]+)</font>')
CHIP_ROW = re.compile(r"\|\s*<term>(?P<chip>[^<]+)</term>\s*\|\s*(?P<mark>\S+)\s*\|")
LIMITS = re.compile(r"\s*\*\*限制与说明\*\*\s*[：:]?(?P<first>.*)")
SUPPORTED = {"✔": True, "&#10004;": True, "✘": False}
"""Marks of the tables: the second is the first one as HTML."""
CHIPS = {"Atlas 训练系列产品": "first", "Atlas A2 训练系列产品": "A2", "Atlas A3 训练系列产品": "A3", "Ascend 950DT": "950DT"}


class PageProblem(ValueError):
    """A page with something that this reader does not know; the message says what and where."""


@dataclass
class Entry:
    """An API on a page.  line: of its heading, from 1.  chips: whether each column supports it; empty without a table.

    limits: the lines of its paragraph of limits, without marks of lists and without examples of code.
    """

    page: str
    line: int
    api: str
    chips: dict[str, bool] = field(default_factory=dict)
    limits: list[str] = field(default_factory=list)


def entries(folder: Path) -> list[Entry]:
    """All entries of a folder of pages, in the order of names and lines.  Raises: PageProblem."""
    return [one for path in sorted(folder.glob("*.md")) for one in _of_page(path)]


def _of_page(path: Path) -> Iterator[Entry]:
    page = _Page(path.stem)
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        page.take(number, line)
    yield from page.entries


class _Page:
    """A page as it is read: entries so far, the class whose members come, whether lines are limits or code."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.entries: list[Entry] = []
        self._owner = ""
        self._in_limits = self._in_code = False

    def take(self, number: int, line: str) -> None:
        heading, member = HEADING.match(line), MEMBER.match(line)
        if heading or member or (line.startswith("#") and not self._in_code):
            self._in_limits = self._in_code = False
        if heading:
            self._owner = _plain(heading["name"])
            self.entries.append(Entry(self.name, number, self._owner))
        elif member:
            self.entries.append(Entry(self.name, number, f"{self._owner}.{_plain(member['name'])}"))
        elif self.entries:
            self._take_rest(number, line)

    def _take_rest(self, number: int, line: str) -> None:
        if row := CHIP_ROW.match(line):
            self.entries[-1].chips[self._column(number, row)] = SUPPORTED[row["mark"]]
        elif limits := LIMITS.match(line):
            self._in_limits = True
            self._take_limit(limits["first"])
        elif line.strip() in ("</div>", '<div style="margin-left: 2em">'):
            self._in_limits = False
        elif self._in_limits:
            self._take_limit(line)

    def _column(self, number: int, row: re.Match[str]) -> str:
        if row["chip"] not in CHIPS or row["mark"] not in SUPPORTED:
            raise PageProblem(f"{self.name}.md, line {number}: unknown row of chips: {row.group()}")
        return CHIPS[row["chip"]]

    def _take_limit(self, line: str) -> None:
        words = re.sub(r"^\s*(?:-|\d+\.)\s+", "", line).strip()
        if words.startswith("```"):
            self._in_code = not self._in_code
        elif words and not self._in_code:
            self.entries[-1].limits.append(words)


def _plain(name: str) -> str:
    """A name without the marks of Markdown: `\\_\\_init\\_\\_()` as `__init__`."""
    return name.replace("\\", "").removesuffix("()").strip()
