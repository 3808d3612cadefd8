"""Lines for the user on stderr: the profiler warns and goes on, as a training should not end for it."""

from __future__ import annotations

import sys


def warn(text: str) -> None:
    """A line of the run log."""
    if sys.stderr is not None:
        print(f"torch_npu: profiler: {text}", file=sys.stderr)


def switch(name: str, value: object) -> bool:
    """A value that must be True or False; False, with a line, for another one."""
    if isinstance(value, bool):
        return value
    warn(f"{name} must be True or False, got {value!r}; it is taken for False")
    return False
