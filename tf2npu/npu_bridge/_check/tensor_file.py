"""Tensors of a step that lie in a file, and not in memory: a check looks at them one after the other."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, MutableMapping
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import numpy as np

from npu_formats.files.directory import Directory

_FEW_BYTES = 1 << 12
"""Bytes of a tensor that is held in memory: a read of the file takes as long as some thousand of them."""


class _Place(NamedTuple):
    """The place of a tensor in the file."""

    start: int
    shape: tuple[int, ...]
    dtype: np.dtype


class TensorFile(MutableMapping[str, np.ndarray]):
    """folder: that goes with the check.  name: of a new file there.  Several threads may put tensors in."""

    def __init__(self, folder: Path, name: str) -> None:
        with Directory.given(folder) as opened:
            self._file = opened.new_file(name)
        self._path, self._lock = folder / name, Lock()
        self._known: dict[str, np.ndarray | _Place] = {}

    def __setitem__(self, name: str, value: np.ndarray) -> None:
        if value.nbytes <= _FEW_BYTES or value.dtype.hasobject:
            self._known[name] = value
            return
        with self._lock:
            place = _Place(self._file.seek(0, os.SEEK_END), value.shape, value.dtype)
            np.ascontiguousarray(value).view(np.uint8).tofile(self._file)
            self._file.flush()
            self._known[name] = place

    def __getitem__(self, name: str) -> np.ndarray:
        known = self._known[name]
        if not isinstance(known, _Place):
            return known
        n_bytes = math.prod(known.shape) * known.dtype.itemsize
        return np.fromfile(self._path, np.uint8, n_bytes, offset=known.start).view(known.dtype).reshape(known.shape)

    def __delitem__(self, name: str) -> None:
        del self._known[name]

    def __contains__(self, name: object) -> bool:
        return name in self._known

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def clear(self) -> None:
        """Let go of all tensors, and of the file's bytes."""
        self._known.clear()
        self._file.truncate(0)
