"""Offsets of a syntax tree that does not hold all of a text: form feeds, and comments indented less than the block they end.

The parser drops such layout, and refuses some mixes of tabs and blanks that Python takes. What it did read is the same
lines, some of them with other blanks in front, and without some that hold no code. So each offset has one place in the text.
"""

from __future__ import annotations

import bisect
import io
import re
import tokenize
from dataclasses import dataclass, field

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_BLANKS = re.compile(r"[ \t\f]*")
_NO_LINE = frozenset({tokenize.NL, tokenize.COMMENT, tokenize.NEWLINE, tokenize.ENDMARKER})


@dataclass
class LineMap:
    """The places in the text of the lines of the code that was read: starts of both, blanks in front of both, end in the text."""

    code_starts: list[int] = field(default_factory=list)
    rows: list[tuple[int, int, int, int]] = field(default_factory=list)  # blanks in code, start, blanks and end in the text

    def start(self, offset: int) -> int:
        """The place of something that starts at an offset of the code."""
        line = bisect.bisect_right(self.code_starts, offset) - 1
        code_blanks, start, blanks, end = self.rows[line]
        column = offset - self.code_starts[line]
        return min(start + (min(column, blanks) if column < code_blanks else blanks + column - code_blanks), end)

    def end(self, offset: int) -> int:
        """The place of something that ends at an offset of the code: never behind what was left out there."""
        line = bisect.bisect_left(self.code_starts, offset) - 1
        if line + 1 < len(self.code_starts) and self.code_starts[line + 1] == offset:
            return self.rows[line][3] if line >= 0 else self.start(offset)
        return self.start(offset)


def line_map(text: str, code: str) -> LineMap | None:
    """The places of the lines of `code` in `text`; None when they differ by more than blanks in front and lines without code."""
    found, position, code_position = LineMap(), 0, 0
    code_lines = _LINE.findall(code)
    number = 0
    for line in _LINE.findall(text):
        blanks = _blanks(line)
        if number < len(code_lines):
            read = code_lines[number]
            code_blanks, is_last = _blanks(read), number == len(code_lines) - 1
            if _same(line[blanks:], read[code_blanks:], is_last):
                found.code_starts.append(code_position)
                found.rows.append((code_blanks, position, blanks, position + len(line)))
                number, code_position, position = number + 1, code_position + len(read), position + len(line)
                continue
        if line.strip("\\ \t\f\r\n") and not line[blanks:].startswith("#"):
            return None
        position += len(line)
    return found if number == len(code_lines) and code_lines else None


def _blanks(line: str) -> int:
    match = _BLANKS.match(line)
    return match.end() if match else 0


def _same(line: str, read: str, is_last: bool) -> bool:
    return line == read or (is_last and line.rstrip("\r\n") == read.rstrip("\r\n"))


def plainly_indented(text: str) -> str | None:
    """The text with four blanks for each block, as Python's tokenizer counts them; None when that refuses it.

    Lines that continue a statement, and what is in strings, stay.
    """
    lines = _LINE.findall(text)
    depth, is_start = 0, True
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
            if token.type in (tokenize.INDENT, tokenize.DEDENT):
                depth += 1 if token.type == tokenize.INDENT else -1
            elif is_start and token.type not in _NO_LINE:
                line = lines[token.start[0] - 1]
                lines[token.start[0] - 1] = "    " * depth + line[_blanks(line) :]
                is_start = False
            is_start = is_start or token.type == tokenize.NEWLINE
    except (tokenize.TokenError, SyntaxError, IndexError):
        return None
    return "".join(lines)
