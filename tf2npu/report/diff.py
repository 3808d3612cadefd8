"""Unified diffs of conversions, byte for byte in the files' own encoding: what `patch` and `git apply` take."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator

from tf2npu.findings import FileResult, Status
from tf2npu.report.visible import visible

_QUOTED = re.compile(rb'[\x00-\x1f\x7f"\\]')
_LETTERS = {b"\a": b"a", b"\b": b"b", b"\t": b"t", b"\n": b"n", b"\v": b"v", b"\f": b"f", b"\r": b"r"}
_COLOURS = ((b"+++", "1"), (b"---", "1"), (b"@@", "36"), (b"+", "32"), (b"-", "31"), (b"\\", "2"))


def unified(result: FileResult) -> Iterator[bytes]:
    """Lines of the diff, with their line ends; nothing for a file that does not change.

    Names are relative to SRC, so the patch applies there (`git -C SRC apply`); odd ones are quoted as git does it.
    """
    if result.status is not Status.CONVERTED or result.before == result.after:
        return
    path = os.fsencode(result.path)
    before, after = _lines(result.before), _lines(result.after)
    for line in difflib.diff_bytes(difflib.unified_diff, before, after, _name(b"a/" + path), _name(b"b/" + path)):
        yield line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n"


def coloured(lines: Iterator[bytes]) -> Iterator[str]:
    """The diff for the eyes: ANSI colours, and nothing in it that a terminal would obey."""
    in_body = False
    for line in lines:
        in_body = in_body or line.startswith(b"@@")
        colour = _colour(line, in_body)
        for part in line.decode("utf-8", "backslashreplace").rstrip("\n").split("\n"):
            text = visible(part.removesuffix("\r"))
            yield f"\x1b[{colour}m{text}\x1b[0m\n" if colour else f"{text}\n"


def _colour(line: bytes, in_body: bool) -> str:
    marks = _COLOURS[2:] if in_body else _COLOURS  # a removed "-- comment" line also begins with "---"
    return next((colour for mark, colour in marks if line.startswith(mark)), "")


def _name(path: bytes) -> bytes:
    """The name as it stands in a header: quoted where a byte of it would end or garble the line."""
    if not _QUOTED.search(path):
        return path + (b"\t" if b" " in path else b"")  # the tab ends a name with spaces, as git writes it
    return b'"' + _QUOTED.sub(lambda found: _escaped(found.group()), path) + b'"'


def _escaped(byte: bytes) -> bytes:
    return b"\\" + (byte if byte in b'"\\' else _LETTERS.get(byte, b"%03o" % ord(byte)))


def _lines(data: bytes) -> list[bytes]:
    """Split at line feeds only, as `patch` does."""
    lines = [line + b"\n" for line in data.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]
