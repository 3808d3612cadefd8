"""High-bandwidth memory: arenas that programs place their values in."""

from __future__ import annotations

import math
from threading import Lock

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.errors import ResourceExhausted

_ALIGNMENT_BYTES = 64
"""Bytes of a cache line and of a processor's widest vector: numpy takes twice as long to store across two lines."""


def allocate(n_bytes: int) -> np.ndarray:
    """(n_bytes,) uint8, uninitialised, from the beginning of a cache line on.  Raises: MemoryError."""
    raw = np.empty(n_bytes + _ALIGNMENT_BYTES, np.uint8)
    start = -raw.ctypes.data % _ALIGNMENT_BYTES
    return raw[start : start + n_bytes]


def allocate_array(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """The same as an array of some shape and type without references to objects.  Raises: MemoryError."""
    return allocate(math.prod(shape) * dtype.itemsize).view(dtype).reshape(shape)


class Arena:
    """One block of device memory for one run in flight.  Raises: ResourceExhausted when this machine has not so much."""

    def __init__(self, n_bytes: int) -> None:
        try:
            self._bytes = allocate(n_bytes)
        except MemoryError:
            raise ResourceExhausted(
                f"this machine has no {n_bytes / 1e9:.2f} GB for the simulated device; use a smaller batch"
            ) from None
        self.n_bytes = n_bytes

    def view(self, offset_bytes: int, shape: tuple[int, ...], dtype: str) -> np.ndarray:
        """The array of this shape and TensorFlow type at an offset."""
        made = dt.to_numpy(dtype)
        n_bytes = math.prod(shape) * made.itemsize
        return self._bytes[offset_bytes : offset_bytes + n_bytes].view(made).reshape(shape)


class ArenaPool:
    """The arenas of one session, one for each run that was ever in flight beside others.

    All programs of the session use them in turn, whatever shapes they are made for: a device has one memory too.
    """

    def __init__(self) -> None:
        self._idle: list[Arena] = []
        self._lock = Lock()

    def take(self, n_bytes: int) -> Arena:
        """An arena of at least so much, for the caller alone; one that is too small is given up for it."""
        with self._lock:
            fitting = [arena for arena in self._idle if arena.n_bytes >= n_bytes]
            if fitting:
                arena = min(fitting, key=lambda arena: arena.n_bytes)
                self._idle.remove(arena)
                return arena
            if self._idle:
                self._idle.remove(max(self._idle, key=lambda arena: arena.n_bytes))
        return Arena(n_bytes)

    def missing(self, n_bytes: int) -> int:
        """Bytes that an arena of at least so much would take from this machine, beside what it gives up."""
        with self._lock:
            return max(0, n_bytes - max((arena.n_bytes for arena in self._idle), default=0))

    def give_back(self, arena: Arena) -> None:
        with self._lock:
            self._idle.append(arena)
