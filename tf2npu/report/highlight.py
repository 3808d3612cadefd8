"""Python source as coloured pieces per line, in a handful of classes that the style sheet knows."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pygments.lexer import Lexer

Piece = tuple[str, str]  # class ("" for plain text), text
_MAX_CHARACTERS = 1_000_000  # a longer file is shown without colours
_CLASSES = (
    ("Comment", "c"), ("Literal.String", "s"), ("Literal.Number", "m"), ("Keyword", "k"), ("Operator.Word", "k"),
    ("Name.Builtin", "b"), ("Name.Decorator", "d"), ("Name.Function", "f"), ("Name.Class", "f"),
)  # fmt: skip


def highlight(text: str) -> list[list[Piece]]:
    """The pieces of each line, line ends left out; the pieces of a line joined are the line."""
    from tf2npu.report.model import Lines

    lines: list[list[Piece]] = [[] for _ in range(len(Lines(text)) + 1)]
    at = 0
    for name, piece in _tokens(text):
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
