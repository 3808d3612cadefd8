"""The error of a file that cannot be read, with its path and the reason."""

from __future__ import annotations

from pathlib import Path


class Unreadable(Exception):
    """A file or folder that is damaged, or may not be read.  path, reason: as the user is told."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path, self.reason = path, reason


def told(error: Unreadable | MemoryError, path: Path) -> Unreadable:
    """The error of a file for either: a tensor that does not fit into the memory is left out, and the others are compared."""
    return error if isinstance(error, Unreadable) else Unreadable(path, "there is not enough memory for it")
