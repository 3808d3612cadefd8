"""Python source as coloured pieces per line, in a handful of classes that the style sheet knows."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pygments.lexer import Lexer

    from tf2npu.report.model import Lines

Piece = tuple[str, str]  # class ("" for plain text), text
_MAX_CHARACTERS = 1_000_000
"""Characters of the longest file that is shown in colours. Pygments takes seconds for more."""
_CLASSES = (
    ("Comment", "c"), ("Literal.String", "s"), ("Literal.Number", "m"), ("Keyword", "k"), ("Operator.Word", "k"),
    ("Name.Builtin", "b"), ("Name.Decorator", "d"), ("Name.Function", "f"), ("Name.Class", "f"),
)  # fmt: skip
# Comments and strings; what is matched further than to the end of its line is a string of several lines.
_COMMENT_OR_STRING = re.compile(
    r"""\#[^\r\n]*|("{3}|'{3})(?:[^\\]|\\.)*?(?:\1|\Z)|(["'])(?:[^\\\r\n]|\\(?:\r\n|.))*?(?:\2|(?=[\r\n])|\Z)""", re.DOTALL
)


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
    """For each line that begins inside a string: the line in which this string begins."""
    begins: dict[int, int] = {}
    for match in _COMMENT_OR_STRING.finditer(lines.text):
        if "\n" in match.group() or "\r" in match.group():
            first, last = lines.position(match.start())[0], lines.position(match.end() - 1)[0]
            begins.update(dict.fromkeys(range(first + 1, last + 1), begins.get(first, first)))
    return begins


def highlight(text: str) -> list[list[Piece]]:
    """The pieces of each line, line ends left out; the pieces of a line joined are the line."""
    from tf2npu.report.model import Lines

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
    for _, kind, piece in _lexer().get_tokens_unprocessed(text):
        name = _class_of(kind)
        if tokens and (tokens[-1][0] == name or tokens[-1][1].endswith("\r")):
            tokens[-1] = (tokens[-1][0], tokens[-1][1] + piece)  # also keeps CRLF in one piece
        else:
            tokens.append((name, piece))
    return tokens


@lru_cache(maxsize=256)
def _class_of(kind: object) -> str:
    return next((name for token, name in _CLASSES if str(kind).startswith(f"Token.{token}")), "")


@lru_cache(maxsize=1)
def _lexer() -> Lexer:
    from pygments.lexers.python import PythonLexer

    return PythonLexer(stripnl=False, stripall=False, ensurenl=False)
