"""Arrays from one process to another: small ones in the message, large ones in memory that both have mapped."""

from __future__ import annotations

import mmap
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

SMALL_BYTES = 1 << 14
"""Up to here an array is part of the message; mapping it would take longer."""
_LINE_BYTES = 64


@dataclass(frozen=True)
class Place:
    """Where a large array lies.  path: of the file that is mapped."""

    path: str
    offset_bytes: int
    shape: tuple[int, ...]
    dtype: str


class Outbox:
    """One side's memory for large arrays; what is packed stays until the next time, when the other side has used it.

    folder: of the files, best one in memory.  name: which no other side has.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder, name
        self._n_files = 0
        self._path = ""
        self._memory: mmap.mmap | None = None

    def pack(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray | Place]:
        """Messages for arrays; the same array twice is written once."""
        large = {id(array): array for array in arrays if array.nbytes > SMALL_BYTES}
        if not self._reserve(sum(_padded(array.nbytes) for array in large.values())):
            return list(arrays)
        places, offset = {}, 0
        for key, array in large.items():
            place = places[key] = Place(self._path, offset, array.shape, array.dtype.str)
            _view(self._memory, place)[...] = array
            offset += _padded(array.nbytes)
        return [places.get(id(array), array) for array in arrays]

    def _reserve(self, n_bytes: int) -> bool:
        """A new file where the last one is too small; who has mapped that one keeps it.  False where there is no room."""
        if n_bytes <= (0 if self._memory is None else len(self._memory)):
            return True
        self.close()
        self._n_files += 1
        path = str(self._folder / f"{self._name}-{self._n_files}")
        try:
            self._memory = _made(path, n_bytes)
        except OSError:  # containers have little memory for files
            return False
        self._path = path
        return True

    def close(self) -> None:
        """Remove the file, if the other side has not."""
        if self._path:
            Path(self._path).unlink(missing_ok=True)
        self._path, self._memory = "", None


def _made(path: str, n_bytes: int) -> mmap.mmap:
    """A new file, mapped; its room is taken now, as a write to a mapped page without room ends the process."""
    with open(path, "w+b") as file:
        try:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, n_bytes)
            else:
                file.truncate(n_bytes)
        except OSError:
            os.unlink(path)
            raise
        return mmap.mmap(file.fileno(), n_bytes)


class Inbox:
    """The other side: maps each file once, which then needs no name: its memory goes with the two processes, however they end."""

    def __init__(self) -> None:
        self._maps: dict[str, mmap.mmap] = {}

    def unpack(self, packed: Sequence[np.ndarray | Place]) -> list[np.ndarray]:
        """The arrays; those of a Place only until the sender packs again."""
        return [_view(self._mapped(item.path), item) if isinstance(item, Place) else item for item in packed]

    def _mapped(self, path: str) -> mmap.mmap:
        if path not in self._maps:
            self._maps.clear()  # the sender uses one file at a time
            with open(path, "r+b") as file:
                self._maps[path] = mmap.mmap(file.fileno(), 0)
            with suppress(OSError):  # a system that keeps mapped files
                os.unlink(path)
        return self._maps[path]


def _padded(n_bytes: int) -> int:
    return -(-n_bytes // _LINE_BYTES) * _LINE_BYTES


def _view(memory: mmap.mmap | None, place: Place) -> np.ndarray:
    return np.ndarray(place.shape, place.dtype, memory, place.offset_bytes)
