"""Arrays from one process to another: small ones in the message, large ones in memory that both have mapped."""

from __future__ import annotations

import math
import mmap
import os
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from npu_formats.ranks.connection import BrokenMessage
from npu_runtime.collectives import run_folder
from npu_runtime.errors import InvalidArgument

SMALL_BYTES = 1 << 14
"""Bytes up to which an array is part of the message: mapping memory would take longer."""
_LINE_BYTES = 64
"""Arrays begin at multiples of so many bytes, a cache line."""
_DTYPES: Mapping[str, np.dtype] = {np.dtype(code).str: np.dtype(code) for code in "?bBhHiIqQefdFD"}
"""Element types that may be sent.  Objects may not: they would be addresses of the other process."""

ELSEWHERE = ("", 0)
"""The place of an array that does not travel with the message: only what it is, is said."""

Packed = tuple[list[Any], list[np.ndarray]]
"""The header's entry for each array (type and shape, then file and place if it lies in one), and the arrays that go with it."""


class Outbox:
    """One side's memory for large arrays; what is packed stays until the next time, when the other side has used it.

    folder: of the files, best one in memory; None where the other side is on another machine.  name: whose they are.
    """

    def __init__(self, folder: Path | None, name: str) -> None:
        self._folder, self._owner = folder, name
        self._name = ""
        self._memory: mmap.mmap | None = None

    def pack(self, arrays: Sequence[np.ndarray]) -> Packed:
        """Messages for arrays; the same large array twice is written once.  Raises: InvalidArgument for what does not travel."""
        kinds = [_kind(array) for array in arrays]
        large = {id(array): array for array in arrays if array.nbytes > SMALL_BYTES}
        if not self._reserve(sum(_padded(array.nbytes) for array in large.values())):
            return kinds, list(arrays)
        places, offset = {}, 0
        for key, array in large.items():
            places[key] = [self._name, offset]
            np.ndarray(array.shape, array.dtype, self._memory, offset)[...] = array
            offset += _padded(array.nbytes)
        packed = [kind + places.get(id(array), []) for kind, array in zip(kinds, arrays, strict=True)]
        return packed, [array for array in arrays if id(array) not in places]

    def _reserve(self, n_bytes: int) -> bool:
        """A new file where the last one is too small; who has mapped that one keeps it.  False where there is no room."""
        if n_bytes <= (0 if self._memory is None else len(self._memory)):
            return True
        self.close()
        if self._folder is None:
            return False
        name = f"{self._owner}-{secrets.token_hex(8)}"
        try:
            self._memory = _made(self._folder, name, n_bytes)
        except OSError:  # containers have little memory for files
            return False
        self._name = name
        return True

    def close(self) -> None:
        """Remove the file, if the other side has not."""
        if self._name and self._folder is not None:
            run_folder.remove(self._folder, self._name)
        self._name, self._memory = "", None


def described(array: np.ndarray) -> list[Any]:
    """The entry in the header for an array that another engine moves.  Raises: InvalidArgument for what does not travel."""
    return [*_kind(array), *ELSEWHERE]


def _kind(array: np.ndarray) -> list[Any]:
    if array.dtype.str not in _DTYPES:
        raise InvalidArgument(f"tensors of {array.dtype.name} do not travel between ranks")
    return [array.dtype.str, list(array.shape)]


def _made(folder: Path, name: str, n_bytes: int) -> mmap.mmap:
    """A new file, mapped; its room is taken now, as a write to a mapped page without room ends the process."""
    descriptor = run_folder.made(folder, name)
    try:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(descriptor, 0, n_bytes)
        else:
            os.ftruncate(descriptor, n_bytes)
        return mmap.mmap(descriptor, n_bytes)
    except OSError:
        run_folder.remove(folder, name)
        raise
    finally:
        os.close(descriptor)


class Inbox:
    """The other side: maps each file once, which then needs no name: its memory goes with the two processes, however they end.

    folder: where files may lie.  A message is looked at before it is followed: a read outside of what is mapped would end the
    process.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._name = ""
        self._memory: mmap.mmap | None = None

    def unpack(self, packed: Any, carried: memoryview) -> list[np.ndarray]:
        """The arrays, those in a file only until the sender packs again.  carried: what came with the message.

        Raises: BrokenMessage where it does not say what there is.  OSError where a file is none of ours.
        """
        if not isinstance(packed, list):
            raise BrokenMessage("no list of arrays")
        arrays, offset = [], 0
        for item in packed:
            dtype, shape, place = _read(item)
            n_bytes = math.prod(shape) * dtype.itemsize
            if place == ELSEWHERE:
                arrays.append(_stand_in(dtype, shape))
            elif place is not None:
                memory = self._mapped(place[0])
                arrays.append(_view(memory, len(memory), dtype, shape, place[1]))
            else:
                arrays.append(_view(carried, len(carried), dtype, shape, offset))
                offset += n_bytes
        return arrays

    def _mapped(self, name: str) -> mmap.mmap:
        if self._folder is None:
            raise BrokenMessage(f"{name}: a file of another machine")
        if self._memory is None or name != self._name:
            descriptor = run_folder.opened(self._folder, name)
            try:
                self._memory = mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)  # the sender uses one file at a time
            except ValueError as error:  # it is empty
                raise BrokenMessage(f"{name}: {error}") from None
            finally:
                os.close(descriptor)
            self._name = name
            run_folder.remove(self._folder, name)
        return self._memory


def _read(item: Any) -> tuple[np.dtype, list[int], tuple[str, int] | None]:
    """Type, shape, and the file with the place in it.  Raises: BrokenMessage."""
    match item:
        case [str(kind), list(shape), *place] if kind in _DTYPES and all(_is_count(size) for size in shape):
            if not place:
                return _DTYPES[kind], shape, None
            match place:
                case ["", 0]:
                    return _DTYPES[kind], shape, ELSEWHERE
                case [str(name), int(offset)] if run_folder.is_plain(name) and _is_count(offset):
                    return _DTYPES[kind], shape, (name, offset)
    raise BrokenMessage(f"no array: {str(item)[:80]}")


def _stand_in(dtype: np.dtype, shape: list[int]) -> np.ndarray:
    """An array that takes no memory.  Raises: BrokenMessage for a shape that numpy has not."""
    try:
        return np.broadcast_to(np.zeros((), dtype), shape)
    except ValueError as error:
        raise BrokenMessage(f"{dtype.name} of {len(shape)} axes: {error}") from None


def _is_count(number: object) -> bool:
    return type(number) is int and number >= 0


def _view(memory: Any, n_bytes: int, dtype: np.dtype, shape: list[int], offset: int) -> np.ndarray:
    if offset + math.prod(shape) * dtype.itemsize > n_bytes:
        raise BrokenMessage(f"{dtype.name}{shape} at byte {offset} of {n_bytes}")
    try:
        return np.ndarray(shape, dtype, memory, offset)
    except (TypeError, ValueError) as error:  # more axes than numpy has, or sizes beside a zero
        raise BrokenMessage(f"{dtype.name} of {len(shape)} axes: {error}") from None


def _padded(n_bytes: int) -> int:
    return -(-n_bytes // _LINE_BYTES) * _LINE_BYTES
