"""The lines that the shim tells while a script runs: on standard error only, because scripts' standard output is often parsed."""

from __future__ import annotations

import os
import sys

_told: set[str] = set()
"""Lines that this process has told; one that it forks begins without them."""
os.register_at_fork(after_in_child=_told.clear)


def once(line: str) -> None:
    """Say a line, the first time only that the process has this to say."""
    if line not in _told:
        _told.add(line)
        print(f"npu_device: {line}", file=sys.stderr)
