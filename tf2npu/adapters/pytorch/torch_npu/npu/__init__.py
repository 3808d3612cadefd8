"""torch.npu: the interface of torch.cuda for NPUs."""

from __future__ import annotations

from typing import Any

import torch

from .._device import tensor_types
from .._device.numbering import DeviceContext as device
from .._device.numbering import current_device, device_count, set_device
from . import amp
from .memory import (
    empty_cache,
    max_memory_allocated,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_reserved,
    memory_stats,
    memory_summary,
    reset_max_memory_allocated,
    reset_peak_memory_stats,
    set_per_process_memory_fraction,
)
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
from .streams import Event, ExternalStream, Stream, StreamContext, current_stream, default_stream, set_stream, stream, synchronize

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


def _is_in_bad_fork() -> bool:
    return False


def set_compile_mode(jit_compile: bool = False) -> None:
    """Accepted: whether operators are compiled ahead or on line changes no number here."""


def utilization(device: Any = None) -> int:
    """Per cent of the last second in which the device computed: not simulated, 0."""
    return 0


def ipc_collect() -> None:
    """Nothing is shared between processes."""


def can_device_access_peer(device: Any, peer_device: Any) -> bool:
    """Whether a device reads another's memory: all of a host do."""
    return True


__all__ = [
    "Event", "ExternalStream", "OutOfMemoryError", "Stream", "StreamContext", "amp", "can_device_access_peer", "current_device",
    "current_stream", "default_stream", "device", "device_count", "device_of", "empty_cache", "get_amp_supported_dtype",
    "get_device_capability", "get_device_name", "get_device_properties", "get_rng_state", "get_rng_state_all", "init",
    "initial_seed", "ipc_collect", "is_available", "is_bf16_supported", "is_initialized", "manual_seed", "manual_seed_all",
    "max_memory_allocated", "max_memory_reserved", "mem_get_info", "memory_allocated", "memory_reserved", "memory_stats",
    "memory_summary", "reset_max_memory_allocated", "reset_peak_memory_stats", "seed", "seed_all", "set_compile_mode",
    "set_device", "set_per_process_memory_fraction", "set_rng_state", "set_rng_state_all", "set_stream", "stream", "synchronize",
    "utilization",
]  # fmt: skip
