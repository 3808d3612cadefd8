"""A failing program made smaller by leaving out lines while it still fails."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$")


def shrunk(data: bytes, still_fails: Callable[[bytes], bool], seconds: float = 20.0) -> bytes:
    """The smallest program found in the time: runs of lines are left out, longer ones first, then runs of characters."""
    end = time.monotonic() + seconds
    lines = _without_parts(_LINE.findall(data), still_fails, end)
    pieces = re.findall(rb"\w+|\s+|.", b"".join(lines), re.DOTALL)
    return b"".join(_without_parts(pieces, still_fails, end))


def _without_parts(parts: list[bytes], still_fails: Callable[[bytes], bool], end: float) -> list[bytes]:
    size = max(1, len(parts) // 2)
    while time.monotonic() < end:
        at, before = 0, len(parts)
        while at < len(parts) and time.monotonic() < end:
            fewer = parts[:at] + parts[at + size :]
            if still_fails(b"".join(fewer)):
                parts = fewer
            else:
                at += size
        if size == 1 and len(parts) == before:
            break
        size = max(1, size // 2)
    return parts
