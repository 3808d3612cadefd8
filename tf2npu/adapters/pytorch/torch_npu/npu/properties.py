"""Properties of the devices."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch

from .._device.chip import chip_of_run
from .._device.numbering import device_count, index_of


class NPUDeviceProperties(NamedTuple):
    """name: of the chip.  total_memory: bytes.  cube_core_num, vector_core_num: cores of each kind."""

    name: str
    total_memory: int
    cube_core_num: int
    vector_core_num: int
    multi_processor_count: int


def is_available() -> bool:
    """Whether there is a device."""
    return device_count() > 0


def is_initialized() -> bool:
    """Whether the devices can be used: always."""
    return True


def get_device_name(device: Any = None) -> str:
    """The name of a device's chip."""
    index_of(device)
    return chip_of_run().name


def get_device_properties(device: Any = None) -> NPUDeviceProperties:
    """Name, memory and cores of a device's chip."""
    index_of(device)
    chip = chip_of_run()
    return NPUDeviceProperties(chip.name, chip.hbm_bytes, chip.n_cores, chip.n_vector_cores, chip.n_cores)


def get_device_capability(device: Any = None) -> None:
    """None: compute capabilities are CUDA's. Source: the vendor's list of interfaces for 2.13."""
    return None


def get_amp_supported_dtype() -> list[torch.dtype]:
    """Types that autocast takes on the chip."""
    return [torch.float16, torch.bfloat16] if chip_of_run().has_bfloat16 else [torch.float16]


def is_bf16_supported(including_emulation: bool = False) -> bool:
    """Whether the chip computes in bfloat16."""
    return chip_of_run().has_bfloat16
