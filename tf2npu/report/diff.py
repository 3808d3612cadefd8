"""Unified diffs of conversions, byte for byte in the files' own encoding: what `patch` and `git apply` take."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator

from tf2npu.findings import FileResult, Status


def unified(result: FileResult) -> Iterator[bytes]:
    """Lines of the diff, with their line ends; nothing for a file that does not change."""
    if result.status is not Status.CONVERTED or result.before == result.after:
        return
    path = os.fsencode(result.path)
    before, after = _lines(result.before), _lines(result.after)
    for line in difflib.diff_bytes(difflib.unified_diff, before, after, b"a/" + path, b"b/" + path):
        yield line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n"


def _lines(data: bytes) -> list[bytes]:
    """Split at line feeds only, as `patch` does."""
    lines = [line + b"\n" for line in data.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]
