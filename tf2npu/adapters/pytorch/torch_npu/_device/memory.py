"""Memory of the devices: what live storages take, its highest mark and the line that reached it.

Bytes are those of the storages themselves. The vendor's caching allocator rounds each to 512 bytes and takes blocks of 2 MiB and
more from the driver, which is not simulated: reserved memory is given as the allocated one.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from . import numbering


class Pool:
    """Memory of one device, in bytes.  total: bytes that the chip has, limit: that this process may take; None for no limit."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.total: int | None = None
        self.limit: int | None = None
        self.live = 0
        self.peak = 0
        self.allocations = 0
        self.at_peak: Callable[[], None] | None = None

    def take(self, size: int) -> None:
        """Count a new storage.  Raises: torch.OutOfMemoryError where the device has not as much left."""
        if self.limit is not None and self.live + size > self.limit:
            raise torch.OutOfMemoryError(self._why_not(size))
        self.live += size
        self.allocations += 1
        if self.live > self.peak:
            self.peak = self.live
            if self.at_peak is not None:
                self.at_peak()

    def _why_not(self, size: int) -> str:
        total = self.limit or 0
        return (
            f"NPU out of memory. Tried to allocate {_readable(size)} (NPU {self.index}; {_readable(total)} total capacity; "
            f"{_readable(self.live)} already allocated; {_readable(total - self.live)} free). The size is that of the simulated "
            "chip: take a smaller batch, or another chip by --soc"
        )


def _readable(size: int) -> str:
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20)):
        if size >= factor:
            return f"{size / factor:.2f} {unit}"
    return f"{size / 1024:.2f} KiB"


POOLS = [Pool(index) for index in range(numbering.COUNT)]
"""The memory of each device."""


class Allocation:
    """Memory that one storage takes; it is given back when the last tensor that holds it goes."""

    __slots__ = ("number", "pool", "size")
    made = 0

    def __init__(self, index: int, size: int) -> None:
        self.pool = POOLS[index]
        self.size = 0  # until there is memory for it
        self.pool.take(size)
        self.size = size
        Allocation.made += 1
        self.number = Allocation.made

    def resize(self, size: int) -> None:
        """Change the size, as `resize_` does.  size: bytes.  Raises: torch.OutOfMemoryError."""
        if size > self.size:
            self.pool.take(size - self.size)
        else:
            self.pool.live -= self.size - size
        self.size = size

    def __del__(self) -> None:
        self.pool.live -= self.size
