"""A folder that appears whole or not at all: files go into a draft beside it, which takes its name when all are written.

A process that is killed leaves a draft, whose name no reader of profiles takes for one. Nothing follows a symbolic link below
the folder that the user gave.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_TEXTS_AT_ONCE = 4096
"""Lines that are put together before they are written: more is no faster, and memory stays small."""


class TooLarge(Exception):
    """A draft would have become larger than its limit."""


class DraftFolder:
    """The draft of a folder below `above`, which the user gave.

    limit_bytes: of all files together, None for none.  make: whether a missing `above` is made.  Raises: OSError.
    """

    def __init__(self, above: Path, limit_bytes: int | None = None, *, make: bool = False) -> None:
        if make:
            above.mkdir(parents=True, exist_ok=True)
        self._path = above
        self._above = os.open(above, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._name = f".draft-{secrets.token_hex(8)}"
        self._limit = limit_bytes
        self.n_bytes = 0
        try:
            os.mkdir(self._name, dir_fd=self._above)
            self._root = os.open(self._name, _FOLDER, dir_fd=self._above)
        except OSError:
            os.close(self._above)
            raise

    def __enter__(self) -> DraftFolder:
        return self

    def __exit__(self, *_: object) -> None:
        """Removes a draft that was not published."""
        os.close(self._root)
        shutil.rmtree(self._path / self._name, ignore_errors=True)
        os.close(self._above)

    def put(self, path: str, parts: bytes | str | Iterable[str]) -> None:
        """Write a file of the draft; folders on the way are made.  Raises: TooLarge; OSError."""
        *folders, name = path.split("/")
        place = self._folder(folders)
        try:
            with os.fdopen(os.open(name, _NEW, 0o666, dir_fd=place), "wb") as stream:
                for piece in _pieces(parts):
                    self.n_bytes += len(piece)
                    if self._limit is not None and self.n_bytes > self._limit:
                        raise TooLarge
                    stream.write(piece)
        finally:
            os.close(place)

    def _folder(self, folders: Iterable[str]) -> int:
        place = os.dup(self._root)
        for folder in folders:
            with suppress(FileExistsError):
                os.mkdir(folder, dir_fd=place)
            inner = os.open(folder, _FOLDER, dir_fd=place)
            os.close(place)
            place = inner
        return place

    def publish(self, name: str) -> bool:
        """Give the draft its name.  Returns: False where something has that name.  Raises: OSError."""
        try:
            os.stat(name, dir_fd=self._above, follow_symlinks=False)
        except FileNotFoundError:
            os.rename(self._name, name, src_dir_fd=self._above, dst_dir_fd=self._above)
            return True
        return False


def _pieces(parts: bytes | str | Iterable[str]) -> Iterable[bytes]:
    if isinstance(parts, (bytes, str)):
        yield parts if isinstance(parts, bytes) else parts.encode()
        return
    held: list[str] = []
    for part in parts:
        held.append(part)
        if len(held) == _TEXTS_AT_ONCE:
            yield "".join(held).encode()
            held.clear()
    yield "".join(held).encode()
