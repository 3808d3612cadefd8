"""Memory of the devices, in bytes, as torch.cuda names what it asks."""

from __future__ import annotations

from collections import OrderedDict
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


reset_max_memory_allocated = reset_max_memory_cached = reset_peak_memory_stats
memory_cached, max_memory_cached = memory_reserved, max_memory_reserved


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """Free bytes, and all of the chip's."""
    pool = _pool(device)
    total = pool.limit if pool.limit is not None else 0
    return total - pool.live, total


def reset_accumulated_memory_stats(device: Any = None) -> None:
    """Begin the counts of allocations anew."""
    _pool(device).allocations = 0


def memory_stats(device: Any = None) -> dict[str, int]:
    """Counters under the names that torch.cuda.memory_stats gives them, in bytes or numbers; those of a cache are 0."""
    pool = _pool(device)
    bytes_now, bytes_at_most = pool.live, pool.peak
    counters: dict[str, int] = OrderedDict.fromkeys(("num_alloc_retries", "num_ooms"), 0)
    for kind in ("allocated_bytes", "reserved_bytes", "active_bytes", "requested_bytes"):
        counters |= {f"{kind}.all.current": bytes_now, f"{kind}.all.peak": bytes_at_most}
    return counters | {
        "allocation.all.allocated": pool.allocations,
        "inactive_split_bytes.all.current": 0,
        "inactive_split_bytes.all.peak": 0,
    }


def memory_stats_as_nested_dict(device: Any = None) -> dict[str, Any]:
    """memory_stats as dictionaries in dictionaries, one a part of a name."""
    nested: dict[str, Any] = {}
    for name, value in memory_stats(device).items():
        *path, last = name.split(".")
        place = nested
        for part in path:
            place = place.setdefault(part, {})
        place[last] = value
    return nested


def memory_snapshot(mempool_id: Any = None) -> list[dict[str, Any]]:
    """Blocks of the allocator: none, as it is not simulated."""
    return []


def host_memory_stats() -> dict[str, int]:
    """Counters of pinned memory: none, as pinning is not simulated."""
    return OrderedDict()


def host_memory_stats_as_nested_dict() -> dict[str, Any]:
    """host_memory_stats as dictionaries in dictionaries."""
    return {}


def reset_accumulated_host_memory_stats() -> None:
    """Nothing is counted of pinned memory."""


def reset_peak_host_memory_stats() -> None:
    """Nothing is counted of pinned memory."""


def host_empty_cache() -> None:
    """Nothing of the host is cached."""


def get_allocator_backend() -> str:
    """The name of the allocator, as PyTorch has it for its own."""
    return "native"


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


def get_per_process_memory_fraction(device: Any = None) -> float:
    """The part of its memory that the device may take, from 0 to 1."""
    pool = _pool(device)
    return 1.0 if pool.total is None or pool.limit is None else pool.limit / pool.total


def empty_cache() -> None:
    """Nothing is cached."""
