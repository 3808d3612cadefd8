"""Bytes of a file to text and back, without losing one: encoding cookie, byte order mark, line ends, last newline."""

from __future__ import annotations

import bisect
import codecs
import re
from dataclasses import dataclass
from itertools import accumulate

from tf2npu.scanner.text.likely_encoding import likely_encoding

# PEP 263: the cookie stands in a comment on the first or second line.
_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK = re.compile(rb"^[ \t\f]*(?:#[^\r\n]*)?(?:\r\n|\r|\n|$)")
# What git leaves in a file where two versions of a part could not be merged.
MERGE_MARKER = re.compile(r"^(?:<{7}|>{7}|\|{7})(?: .*)?$", re.MULTILINE)
UNRESOLVED = "an unresolved merge: this line is a conflict marker; resolve it first"
_LINE_START = re.compile(r"\r\n|\r|\n")


class SourceError(ValueError):
    """A file that cannot be read as text; `line` and `column` are 1-based."""

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


OR_PYTHON2 = ", or convert with --python2"
"""Goes behind the message of a Python2Error where it is a finding."""


class Python2Error(SourceError):
    """A source that only Python 2 reads."""


@dataclass(frozen=True)
class Source:
    """Decoded text plus what is needed to write it back. The byte order mark is not part of `text`.

    ends_with_cr: the file's lines end with a carriage return alone (old Mac OS), which the parser does not give back; in
    `text` they end with a line feed, at the same offsets.
    """

    text: str
    encoding: str
    bom: bytes = b""
    ends_with_cr: bool = False

    def encode(self, text: str) -> bytes:
        """Bytes of `text` in the encoding and with the line ends of the file."""
        text = text.replace("\n", "\r") if self.ends_with_cr else text
        return self.bom + text.encode(self.encoding)

    @property
    def newline(self) -> str:
        """The line end of the file: that of its first line, or a line feed when there is none."""
        match = _LINE_START.search(self.text)
        return match.group(0) if match else "\n"


def decode(data: bytes) -> Source:
    """Decode Python source by its byte order mark or PEP 263 cookie, UTF-8 without either.

    Raises: SourceError for an unknown encoding or bytes that are not text in it.
    """
    bom = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    body = data[len(bom) :]
    encoding = _cookie(body) or "utf-8"
    try:
        name = codecs.lookup(encoding).name
    except LookupError:
        raise SourceError(f"unknown encoding {encoding!r} in the coding comment") from None
    if bom and name != "utf-8":
        raise SourceError(f"the file has a UTF-8 byte order mark but its coding comment says {encoding!r}")
    try:
        text = body.decode(encoding)
        faithful = text.encode(encoding) == body
    except UnicodeDecodeError as error:
        line = body.count(b"\n", 0, error.start) + 1
        column = error.start - body.rfind(b"\n", 0, error.start)
        raise SourceError(f"byte 0x{body[error.start]:02x} is not valid {encoding}{_advice(body)}", line, column) from None
    except (UnicodeError, TypeError, ValueError) as error:
        raise SourceError(f"cannot be read as {encoding}: {error}") from None
    if not faithful:
        raise SourceError(f"the {encoding} text does not encode back to the same bytes")
    ends_with_cr = "\r" in text and "\n" not in text
    return Source(text.replace("\r", "\n") if ends_with_cr else text, encoding, bom, ends_with_cr)


def _advice(body: bytes) -> str:
    """The first line that would tell Python, and this program, how to read a file."""
    guess = likely_encoding(body)
    where = "in the coding comment" if _cookie(body) else "as the first line"
    return f"; it reads as {guess}: write # -*- coding: {guess} -*- {where}, which Python wants as well" if guess else ""


def _cookie(data: bytes) -> str | None:
    first, rest = _split_line(data)
    match = _COOKIE.match(first)
    if match is None and _BLANK.match(first):
        match = _COOKIE.match(_split_line(rest)[0])
    return match.group(1).decode("ascii") if match else None


def _split_line(data: bytes) -> tuple[bytes, bytes]:
    head = data[:400]  # a cookie line is short; the rest of the file is not needed
    end = len(head)
    for newline in (b"\n", b"\r"):
        found = head.find(newline)
        if found >= 0:
            end = min(end, found)
    skip = 2 if data[end : end + 2] == b"\r\n" else 1
    return data[:end], data[end + skip : end + skip + 400]


class LineIndex:
    """Offsets of a text to 1-based lines and columns."""

    def __init__(self, text: str) -> None:
        self.text = text
        if "\r" in text:
            self.starts = [0, *(found.end() for found in _LINE_START.finditer(text))]
        else:  # nearly every source, several times in a conversion: a third of the time
            self.starts = list(accumulate((len(line) + 1 for line in text.split("\n")[:-1]), initial=0))

    def position(self, offset: int) -> tuple[int, int]:
        """1-based line and column (in characters) of an offset."""
        line = bisect.bisect_right(self.starts, offset) - 1
        return line + 1, offset - self.starts[line] + 1

    def line_start(self, offset: int) -> int:
        """Offset at which the line that holds `offset` starts."""
        return self.starts[self.position(offset)[0] - 1]

    def line_end(self, offset: int) -> int:
        """Offset of the line end (before the newline characters) of the line that holds `offset`."""
        line = self.position(offset)[0]
        return self.starts[line - 1] + len(self.line_text(line))

    def line_text(self, line: int) -> str:
        """Text of a 1-based line without its newline."""
        start = self.starts[line - 1]
        end = self.starts[line] if line < len(self.starts) else len(self.text)
        return self.text[start:end].rstrip("\r\n")
