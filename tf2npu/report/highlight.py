"""Python source as coloured pieces per line, in a handful of classes that the style sheet knows."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tf2npu.report.model import Lines

Piece = tuple[str, str]  # class ("" for plain text), text
_MAX_CHARACTERS = 1_000_000
"""Characters of the longest file that is shown in colours. A longer one is data."""
_CLASS_OF_WORD = {
    **{name: "b" for name in dir(builtins) if name.islower() and not name.startswith("_")}, "self": "b", "cls": "b",
    **dict.fromkeys((*keyword.kwlist, "exec"), "k"),
}  # fmt: skip
_NAMING = ("def", "class")
"""Words before a name that is made."""
_TOKEN = re.compile(
    r"""(?P<c>\#[^\r\n]*)
    |(?P<s>(?<!\w)[rRbBuUfF]{0,2}(?:"{3}(?:[^\\]|\\.)*?(?:"{3}|\Z)|\'{3}(?:[^\\]|\\.)*?(?:\'{3}|\Z)
        |"(?:[^"\\\r\n]|\\(?:\r\n|.))*(?:"|(?=[\r\n])|\Z)|\'(?:[^\'\\\r\n]|\\(?:\r\n|.))*(?:\'|(?=[\r\n])|\Z)))
    |(?P<d>^[ \t]*@[\w.]+)
    |(?P<m>(?<![\w.])(?:0[xXbBoO][\da-fA-F_]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?)[jJlL]?)
    |(?P<name>(?<![\w.])[^\W\d]\w*)""",
    re.DOTALL | re.VERBOSE | re.MULTILINE,
)
"""What has a colour of its own, and names. Pygments tries some 36 patterns for each token, which took 45 % of the time in which a
report is written; a report needs seven colours of one language."""
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
