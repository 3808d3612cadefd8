"""The error of a file that cannot be read, with its path and the reason."""

from __future__ import annotations

from pathlib import Path


class Unreadable(Exception):
    """A file or folder that is damaged, or may not be read.  path, reason: as the user is told."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path, self.reason = path, reason
