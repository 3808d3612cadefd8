"""The places of a smoke run's files: those of the throw-away copy stay, all others that are missing or written are elsewhere."""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path

from npu_formats.documents.smoke_request import ATTEMPT

_LIBRARIES = tuple(
    {os.path.realpath(path) for path in (*sysconfig.get_paths().values(), sys.prefix, sys.base_prefix) if path}
)  # fmt: skip
_OF_THE_SYSTEM = ("/proc", "/sys", "/dev", "/etc", "/usr", "/lib", "/bin")
"""Folders of which nothing is made up: a program asks there for the machine and not for data."""
MOST_CHARACTERS = 300
"""Longest text that is taken for a path."""


class Places:
    """root: the throw-away folder of the project.  elsewhere: a folder for all that is outside of it."""

    def __init__(self, root: str, elsewhere: str) -> None:
        self.root, self.elsewhere = os.path.realpath(root), os.path.realpath(elsewhere)
        self._above = os.path.dirname(self.elsewhere)

    def is_inside(self, path: str) -> bool:
        """Whether a path is in the throw-away folder, or beside it in what goes with it."""
        full = os.path.realpath(path)
        return full == self._above or full.startswith(self._above + os.sep)

    def is_left_alone(self, path: str) -> bool:
        """Whether a path belongs to Python, a library or the system."""
        full = os.path.realpath(path)
        if self.is_inside(full):
            return False
        return full.startswith(_OF_THE_SYSTEM) or any(full.startswith(folder + os.sep) for folder in _LIBRARIES)

    def there(self, path: str) -> str:
        """The path of the same name elsewhere."""
        _, _, rest = os.path.abspath(os.path.expanduser(path)).partition(os.sep)
        return os.path.join(self.elsewhere, _without_scheme(rest))

    def read(self, path: str) -> str:
        """The place to read a file or a folder from: where it is elsewhere, else where the script says."""
        if "://" in path:
            return os.path.join(self.elsewhere, _without_scheme(path))
        if self.is_inside(path) or self.is_left_alone(path):
            return path
        moved = self.there(path)
        return moved if os.path.lexists(moved) else path

    def written(self, path: str) -> str:
        """The place to write a file or a folder to; the folders above it are made where they are elsewhere."""
        if "://" not in path and (self.is_inside(path) or self.is_left_alone(path)):
            return path
        moved = os.path.join(self.elsewhere, _without_scheme(path)) if "://" in path else self.there(path)
        Path(moved).parent.mkdir(parents=True, exist_ok=True)
        return moved

    def is_missing(self, path: str, *, is_path: bool = False) -> bool:
        """Whether a script asks for a file that is not there, and that is not the system's.  is_path: the text is surely one."""
        if not (is_path or looks_like_path(path)) or ("://" not in path and self.is_left_alone(path)):
            return False
        return not os.path.lexists(self.read(path))

    def told(self, path: str) -> str:
        """A path as another attempt can read it."""
        return ATTEMPT + path.removeprefix(self._above + os.sep) if path.startswith(self._above + os.sep) else path

    def taken(self, path: str) -> str:
        """A path that another attempt told."""
        return os.path.join(self._above, path.removeprefix(ATTEMPT)) if path.startswith(ATTEMPT) else path

    def shown(self, path: str) -> str:
        """A path as a report names it: from the project's folder."""
        full = os.path.abspath(path) if "://" not in path else path
        inner = os.path.realpath(full)
        if inner.startswith(self.root + os.sep):
            return os.path.relpath(inner, self.root)
        return os.path.join(os.sep, os.path.relpath(inner, self.elsewhere)) if inner.startswith(self.elsewhere + os.sep) else path


def _without_scheme(path: str) -> str:
    return path.replace("://", "/").lstrip("/")


def looks_like_path(text: str) -> bool:
    """Whether a text may name a file: short, on one line, with a folder or a suffix."""
    if not text or len(text) > MOST_CHARACTERS or any(c in text for c in "\n\t\0"):
        return False
    return "/" in text or "." in os.path.basename(text).lstrip(".")
