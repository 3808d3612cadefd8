"""Help on a terminal by cells: a Chinese character takes two, and a line may be broken between any two of them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

import click

_PIECE = re.compile(r"[\u2e80-\u9fff\uff00-\uffef][，。：；、）？！]*| |[^\s\u2e80-\u9fff\uff00-\uffef]+[，。：；、）？！]*")
"""Units that a line is wrapped at: a Chinese character or a word, each with the marks that no line begins with, or a blank."""
_MOST_OF_FIRST = 30
"""Cells of the first column: what is longer has a line of its own."""
_GAP = 2
"""Cells between the columns."""


def cells(text: str) -> int:
    """Cells of a terminal that a text takes."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def wrapped(text: str, width: int) -> list[str]:
    """The lines of a text of at most so many cells, but for words that are longer."""
    lines, line = [], ""
    for piece in _PIECE.findall(text):
        if line.strip() and cells(line + piece) > width:
            lines.append(line.rstrip())
            line = ""
        line += piece if line or piece != " " else ""
    return [*lines, line.rstrip()]


class CellFormatter(click.HelpFormatter):
    """click's formatter, which counts cells and not characters."""

    def write_text(self, text: str) -> None:
        for line in wrapped(text, self.width - self.current_indent):
            self.write(f"{'':>{self.current_indent}}{line}\n")

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = _MOST_OF_FIRST, col_spacing: int = _GAP) -> None:
        rows = list(rows)
        first = min(max(cells(name) for name, _ in rows), col_max) + col_spacing
        for name, text in rows:
            lines = wrapped(text, self.width - self.current_indent - first)
            fits = cells(name) + col_spacing <= first
            head = f"{'':>{self.current_indent}}{name}"
            self.write(f"{head}{'':>{first - cells(name)}}{lines.pop(0)}".rstrip() + "\n" if fits else f"{head}\n")
            for line in lines:
                self.write(f"{'':>{self.current_indent + first}}{line}\n")
