"""The folder of one step of a model: every file in it is whole, and nothing follows a link below the folder the user gave."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

MAPPING = "mapping.csv"
"""Which file has which name, where a name is too long for a file system."""
LONGEST_NAME = 254
"""Characters of a file name; longer ones become digits.  Source: the documents of the data dump."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class StepFolder:
    """root: the folder that the user gave.  parts: of the path below it, made where they are missing.  Raises: OSError."""

    def __init__(self, root: Path, parts: Iterable[str]) -> None:
        self._place = os.open(root, _FOLDER)
        for part in parts:
            self._enter(part)
        self._mapping = ""

    def _enter(self, part: str) -> None:
        above = self._place
        try:
            with suppress(FileExistsError):
                os.mkdir(part, dir_fd=above)
            self._place = os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=above)
        finally:
            os.close(above)

    def put(self, name: str, pieces: Iterable[bytes | memoryview], digits: str) -> int:
        """Write a file, and return its bytes.  digits: its name, where the other is too long.  Raises: OSError; no half file."""
        if len(name) > LONGEST_NAME:
            self._mapping += f"{digits},{name}\n"
            self._put_whole(MAPPING, [self._mapping.encode()])
            name = digits
        return self._put_whole(name, pieces)

    def _put_whole(self, name: str, pieces: Iterable[bytes | memoryview]) -> int:
        draft = f".draft-{secrets.token_hex(8)}"
        n_bytes = 0
        try:
            with os.fdopen(os.open(draft, _NEW, 0o640, dir_fd=self._place), "wb") as stream:
                for piece in pieces:
                    n_bytes += stream.write(piece)
            os.rename(draft, name, src_dir_fd=self._place, dst_dir_fd=self._place)
        except BaseException:
            with suppress(OSError):
                os.unlink(draft, dir_fd=self._place)
            raise
        return n_bytes

    def close(self) -> None:
        """Give the folder back to the system."""
        os.close(self._place)
