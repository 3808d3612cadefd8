"""Memory of the devices, in bytes, as torch.cuda names what it asks."""

from __future__ import annotations

from typing import Any

from .._device.memory import POOLS, Pool
from .._device.numbering import index_of


def _pool(device: Any) -> Pool:
    return POOLS[index_of(device)]


def memory_allocated(device: Any = None) -> int:
    """Bytes that live tensors take."""
    return _pool(device).live


def max_memory_allocated(device: Any = None) -> int:
    """The highest mark of memory_allocated."""
    return _pool(device).peak


def memory_reserved(device: Any = None) -> int:
    """Bytes that the allocator holds: those of live tensors, as no cache is simulated."""
    return _pool(device).live


def max_memory_reserved(device: Any = None) -> int:
    """The highest mark of memory_reserved."""
    return _pool(device).peak


def reset_peak_memory_stats(device: Any = None) -> None:
    """Begin the highest mark anew."""
    pool = _pool(device)
    pool.peak = pool.live


reset_max_memory_allocated = reset_peak_memory_stats


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """Free bytes, and all of the chip's."""
    pool = _pool(device)
    total = pool.limit if pool.limit is not None else 0
    return total - pool.live, total


def memory_stats(device: Any = None) -> dict[str, int]:
    """Counters under the names that torch.cuda.memory_stats gives them."""
    pool = _pool(device)
    return {
        "allocation.all.allocated": pool.allocations,
        "allocated_bytes.all.current": pool.live,
        "allocated_bytes.all.peak": pool.peak,
        "reserved_bytes.all.current": pool.live,
        "reserved_bytes.all.peak": pool.peak,
    }


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """The counters as text."""
    return "\n".join(f"{name}: {value}" for name, value in memory_stats(device).items())


def set_per_process_memory_fraction(fraction: float, device: Any = None) -> None:
    """Let the device have a part of its memory.  Raises: ValueError for a part that is not from 0 to 1."""
    if not 0 <= fraction <= 1:
        raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
    pool = _pool(device)
    if pool.total is not None:
        pool.limit = int(pool.total * fraction)


def empty_cache() -> None:
    """Nothing is cached."""
