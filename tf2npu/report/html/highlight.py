"""Python source as coloured pieces per line, in a handful of classes that the style sheet knows."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tf2npu.report.model.report import Lines

Piece = tuple[str, str]  # class ("" for plain text), text
_MAX_CHARACTERS = 1_000_000
"""Characters of the longest file that is shown in colours. A longer one is data."""
_BUILTINS = (
    "abs aiter all anext any ascii bin bool breakpoint bytearray bytes callable chr classmethod compile complex delattr "
    "dict dir divmod enumerate eval exec filter float format frozenset getattr globals hasattr hash hex id input int "
    "isinstance issubclass iter len list locals map max memoryview min next object oct open ord pow print property range "
    "repr reversed round set setattr slice sorted staticmethod str sum super tuple type vars zip"
)
"""Functions and types of Python 3.10: a list of its own, so that a report is the same under each Python that writes it."""
_CLASS_OF_WORD = {
    **dict.fromkeys((*_BUILTINS.split(), "self", "cls"), "b"), **dict.fromkeys((*keyword.kwlist, "exec"), "k"),
}  # fmt: skip
_NAMING = ("def", "class")
"""Words before a name that is made."""
_COMMENT = r"\#[^\r\n]*"
_STRING = (
    r"(?:(?<!\w)[rRbBuUfF]{1,2})?"
    r"""(?:"{3}(?:[^\\]|\\.)*?(?:"{3}|\Z)|'{3}(?:[^\\]|\\.)*?(?:'{3}|\Z)"""
    r"""|"(?:[^"\\\r\n]|\\(?:\r\n|.))*(?:"|(?=[\r\n])|\Z)|'(?:[^'\\\r\n]|\\(?:\r\n|.))*(?:'|(?=[\r\n])|\Z))"""
)
_TOKEN = re.compile(
    rf"(?P<c>{_COMMENT})|(?P<s>{_STRING})"
    r"|(?P<d>^[ \t]*@[\w.]+)"
    r"|(?P<m>(?<![\w.])(?:0[xXbBoO][\da-fA-F_]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?)[jJlL]?)"
    r"|(?P<name>(?<![\w.])[^\W\d]\w*)",
    re.DOTALL | re.MULTILINE,
)
"""Tokens that have a colour of their own, and names. Pygments tries some 36 patterns for each token, which took 45 % of the time
in which a report is written; a report needs seven colours of one language."""
_COMMENT_OR_STRING = re.compile(f"{_COMMENT}|{_STRING}", re.DOTALL)
"""Comments and strings. A match that goes on behind the end of its line is a string of several lines."""


def highlight_ranges(lines: Lines, ranges: Iterable[tuple[int, int]]) -> dict[int, list[Piece]]:
    """The pieces of the lines of some ranges (first and last line, 1-based), and of no other line.

    Reading the tokens of whole files costs a fifth of a conversion, and most lines of a page are folded away.
    """
    begins = _string_starts(lines)
    found: dict[int, list[Piece]] = {}
    for first, last in ranges:
        start = begins.get(first, first)
        end = lines.starts[last] if last < len(lines.starts) else len(lines.text)
        for number, pieces in enumerate(highlight(lines.text[lines.starts[start - 1] : end]), start):
            if first <= number <= last:
                found[number] = pieces
    return found


def _string_starts(lines: Lines) -> dict[int, int]:
    """The line in which a string begins, for each line that begins inside of it."""
    begins: dict[int, int] = {}
    for match in _COMMENT_OR_STRING.finditer(lines.text):
        if "\n" in match.group() or "\r" in match.group():
            first, last = lines.position(match.start())[0], lines.position(match.end() - 1)[0]
            begins.update(dict.fromkeys(range(first + 1, last + 1), begins.get(first, first)))
    return begins


def highlight(text: str) -> list[list[Piece]]:
    """The pieces of each line, line ends left out; the pieces of a line joined are the line."""
    from tf2npu.report.model.report import Lines

    lines: list[list[Piece]] = [[] for _ in range(len(Lines(text)) + 1)]
    at = 0
    for name, piece in _tokens(text):
        if "\n" not in piece and "\r" not in piece:
            lines[at].append((name, piece))
            continue
        parts = Lines(piece).with_ends()
        for part in parts:
            body = part.rstrip("\r\n")
            if body:
                lines[at].append((name, body))
            at += body != part
    return lines[: len(Lines(text))]


def _tokens(text: str) -> list[Piece]:
    if len(text) > _MAX_CHARACTERS:
        return [("", text)]
    tokens: list[Piece] = []
    at, before = 0, ""
    for found in _TOKEN.finditer(text):
        name = found.lastgroup or ""
        word = found.group()
        if name == "name":
            name = "f" if before in _NAMING else _CLASS_OF_WORD.get(word, "")
            before = word
        if name:
            start = found.start()
            if start > at:
                tokens.append(("", text[at:start]))
            tokens.append((name, word))
            at = found.end()
    return [*tokens, ("", text[at:])] if at < len(text) else tokens
