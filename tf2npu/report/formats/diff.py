"""Unified diffs of conversions, byte for byte in the files' own encoding: what `patch` and `git apply` take."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator

from npu_formats.escape import ODD, visible
from tf2npu.findings import FileResult, Status

_QUOTED = re.compile(rb'[\x00-\x1f\x7f"\\]')
_QUOTED_WITH_ALL_BEYOND_ASCII = re.compile(rb'[\x00-\x1f\x7f-\xff"\\]')
_LETTERS = {b"\a": b"a", b"\b": b"b", b"\t": b"t", b"\n": b"n", b"\v": b"v", b"\f": b"f", b"\r": b"r"}
_COLOURS = ((b"+++", "1"), (b"---", "1"), (b"@@", "36"), (b"+", "32"), (b"-", "31"), (b"\\", "2"))


def unified(result: FileResult) -> Iterator[bytes]:
    """Lines of the diff, with their line ends; nothing for a file that does not change.

    Names are relative to SRC, so the patch applies there (`git -C SRC apply`); odd ones are quoted as git does it.
    """
    if result.status is not Status.CONVERTED or result.before == result.after:
        return
    path = result.path
    before, after = _lines(result.before), _lines(result.after)
    for line in difflib.diff_bytes(difflib.unified_diff, before, after, _name(f"a/{path}"), _name(f"b/{path}")):
        yield line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n"


def for_the_eyes(lines: Iterator[bytes], has_colours: bool = True) -> Iterator[str]:
    """The diff for a terminal: ANSI colours where they are wanted, and nothing else in it that a terminal would obey."""
    in_body = False
    for line in lines:
        in_body = in_body or line.startswith(b"@@")
        colour = _colour(line, in_body) if has_colours else ""
        for part in line.decode("utf-8", "backslashreplace").rstrip("\n").split("\n"):
            text = visible(part.removesuffix("\r"))
            yield f"\x1b[{colour}m{text}\x1b[0m\n" if colour else f"{text}\n"


def _colour(line: bytes, in_body: bool) -> str:
    marks = _COLOURS[2:] if in_body else _COLOURS  # a removed "-- comment" line also begins with "---"
    return next((colour for mark, colour in marks if line.startswith(mark)), "")


def _name(path: str) -> bytes:
    """The name as it stands in a header: quoted where it would end or garble the line, or have a terminal obey it."""
    data = os.fsencode(path)
    if not _QUOTED.search(data) and not ODD.search(path):
        return data + (b"\t" if b" " in data else b"")  # the tab ends a name with spaces, as git writes it
    quoted = _QUOTED_WITH_ALL_BEYOND_ASCII if ODD.search(path) else _QUOTED
    return b'"' + quoted.sub(lambda found: _escaped(found.group()), data) + b'"'


def _escaped(byte: bytes) -> bytes:
    return b"\\" + (byte if byte in b'"\\' else _LETTERS.get(byte, b"%03o" % ord(byte)))


def _lines(data: bytes) -> list[bytes]:
    """Split at line feeds only, as `patch` does."""
    lines = [line + b"\n" for line in data.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]
