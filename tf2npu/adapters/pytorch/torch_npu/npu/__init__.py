"""torch.npu: the interface of torch.cuda for NPUs."""

from __future__ import annotations

from typing import Any

import torch

from .._device import forked, tensor_types
from .._device.numbering import DeviceContext as device
from .._device.numbering import current_device, device_count, set_device
from . import amp
from .memory import (
    empty_cache,
    get_allocator_backend,
    get_per_process_memory_fraction,
    host_empty_cache,
    host_memory_stats,
    host_memory_stats_as_nested_dict,
    max_memory_allocated,
    max_memory_cached,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_cached,
    memory_reserved,
    memory_snapshot,
    memory_stats,
    memory_stats_as_nested_dict,
    memory_summary,
    reset_accumulated_host_memory_stats,
    reset_accumulated_memory_stats,
    reset_max_memory_allocated,
    reset_max_memory_cached,
    reset_peak_host_memory_stats,
    reset_peak_memory_stats,
    set_per_process_memory_fraction,
)
from .mstx import mstx
from .properties import (
    get_amp_supported_dtype,
    get_device_capability,
    get_device_name,
    get_device_properties,
    is_available,
    is_bf16_supported,
    is_initialized,
)
from .random import (
    default_generators,
    get_rng_state,
    get_rng_state_all,
    initial_seed,
    manual_seed,
    manual_seed_all,
    seed,
    seed_all,
    set_rng_state,
    set_rng_state_all,
)
from .settings import (
    are_compatible_impl_enabled,
    clear_npu_overflow_flag,
    config,
    conv,
    disable_deterministic_with_backward,
    enable_deterministic_with_backward,
    get_autocast_dtype,
    get_mm_bmm_format_nd,
    get_npu_overflow_flag,
    get_sync_debug_mode,
    is_autocast_enabled,
    is_current_stream_capturing,
    is_jit_compile_false,
    matmul,
    set_autocast_dtype,
    set_autocast_enabled,
    set_compile_mode,
    set_deterministic_level,
    set_mm_bmm_format_nd,
    set_op_timeout_ms,
    set_option,
    set_sync_debug_mode,
    use_compatible_impl,
)
from .streams import (
    Event,
    ExternalStream,
    Stream,
    StreamContext,
    SyncLaunchStream,
    current_stream,
    default_stream,
    set_stream,
    stream,
    synchronize,
)
from .unsimulated import why_missing

OutOfMemoryError = torch.OutOfMemoryError
globals().update(tensor_types.TYPES)


class device_of(device):
    """The device of a tensor as the current one; a tensor of the host changes nothing."""

    def __init__(self, tensor: torch.Tensor) -> None:
        super().__init__(tensor.get_device() if tensor.device.type == "npu" else current_device())


def init() -> None:
    """Nothing has to be initialised."""


def _lazy_init() -> None:
    init()


_is_in_bad_fork = forked.is_bad_fork


def __getattr__(name: str) -> Any:
    raise AttributeError(why_missing(name))


def utilization(device: Any = None) -> int:
    """Per cent of the last second in which the device computed: not simulated, 0."""
    return 0


def ipc_collect() -> None:
    """Nothing is shared between processes."""


def can_device_access_peer(device: Any, peer_device: Any) -> bool:
    """Whether a device reads another's memory: all of a host do."""
    return True


__all__ = [
    "Event", "ExternalStream", "OutOfMemoryError", "Stream", "StreamContext", "SyncLaunchStream", "amp",
    "are_compatible_impl_enabled", "can_device_access_peer", "clear_npu_overflow_flag", "config", "conv", "current_device",
    "current_stream", "default_generators", "default_stream", "device", "device_count", "device_of",
    "disable_deterministic_with_backward", "empty_cache", "enable_deterministic_with_backward", "get_allocator_backend",
    "get_amp_supported_dtype", "get_autocast_dtype", "get_device_capability", "get_device_name", "get_device_properties",
    "get_mm_bmm_format_nd", "get_npu_overflow_flag", "get_per_process_memory_fraction", "get_rng_state", "get_rng_state_all",
    "get_sync_debug_mode", "host_empty_cache", "host_memory_stats", "host_memory_stats_as_nested_dict",
    "init", "initial_seed", "ipc_collect", "is_autocast_enabled", "is_available", "is_bf16_supported",
    "is_current_stream_capturing", "is_initialized", "is_jit_compile_false", "manual_seed", "manual_seed_all", "matmul",
    "max_memory_allocated", "max_memory_cached", "max_memory_reserved", "mem_get_info", "memory_allocated", "memory_cached",
    "memory_reserved", "memory_snapshot", "memory_stats", "memory_stats_as_nested_dict", "memory_summary", "mstx",
    "reset_accumulated_host_memory_stats", "reset_accumulated_memory_stats", "reset_max_memory_allocated",
    "reset_max_memory_cached", "reset_peak_host_memory_stats", "reset_peak_memory_stats", "seed", "seed_all",
    "set_autocast_dtype", "set_autocast_enabled", "set_compile_mode", "set_deterministic_level", "set_device",
    "set_mm_bmm_format_nd", "set_op_timeout_ms", "set_option", "set_per_process_memory_fraction", "set_rng_state",
    "set_rng_state_all", "set_stream", "set_sync_debug_mode", "stream", "synchronize", "use_compatible_impl", "utilization",
    *tensor_types.TYPES,
]  # fmt: skip
