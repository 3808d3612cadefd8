"""The folder of one step of a model: every file in it is whole, and nothing follows a link below the folder the user gave."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from npu_formats.files.whole_file import append, put_pieces

MAPPING = "mapping.csv"
"""Table of files and names, where a name is too long for a file system."""
LONGEST_NAME = 254
"""Characters of a file name; longer ones become digits.  Source: the documents of the data dump."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_MODE = 0o640
"""Permissions of the files: tensors of a training are no matter for everybody on a machine."""


class StepFolder:
    """root: the folder that the user gave.  parts: of the path below it, made where they are missing.  Raises: OSError."""

    def __init__(self, root: Path, parts: Iterable[str]) -> None:
        self._place = os.open(root, _FOLDER)
        for part in parts:
            self._enter(part)

    def _enter(self, part: str) -> None:
        above = self._place
        try:
            with suppress(FileExistsError):
                os.mkdir(part, dir_fd=above)
            self._place = os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=above)
        finally:
            os.close(above)

    def put(self, name: str, pieces: Iterable[bytes | memoryview], digits: str) -> int:
        """Write a file, and return its bytes.  digits: its name, where the other is too long.  Raises: OSError; no half file.

        What digits stand for is there before their file is.
        """
        if len(name) > LONGEST_NAME:
            append(self._place, MAPPING, f"{digits},{name}\n".encode(), _MODE)
            name = digits
        return put_pieces(self._place, name, pieces, _MODE)

    def close(self) -> None:
        """Give the folder back to the system."""
        os.close(self._place)
