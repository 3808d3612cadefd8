"""The log on stderr while a process runs, for what cannot wait until the run log at its end."""

from __future__ import annotations

import os
import sys

_TOLD: set[str] = set()
"""Lines that this process has told; one that it forks begins without them."""
os.register_at_fork(after_in_child=_TOLD.clear)


def tell(line: str) -> None:
    """A line of the run log."""
    print(f"npu_runtime: {line}", file=sys.stderr)


def tell_once(line: str, says: str = "") -> None:
    """A line of the run log, unless this process has told it.  says: what of it is new, where that is not all of it."""
    if (says or line) not in _TOLD:
        _TOLD.add(says or line)
        tell(line)
