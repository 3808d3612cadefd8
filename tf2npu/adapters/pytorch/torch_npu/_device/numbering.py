"""Numbers of devices: npu:0 to npu:7, and which of them is current in a thread."""

from __future__ import annotations

import os
import threading
from typing import Any

import torch

COUNT = 8
"""Devices of a host: a server of the Atlas 800 series has eight (vendor's hardware guide)."""

CPP = "lazy"
"""Type of the devices that PyTorch's C++ takes the simulated ones for (the module `tensor` has the reason)."""

VISIBLE = "ASCEND_RT_VISIBLE_DEVICES"
"""The vendor's variable that numbers some of a host's devices anew from 0, as CUDA_VISIBLE_DEVICES does."""

TYPES = {"npu", CPP}
"""Types of torch.device that mean the NPU; cuda is one where CUDA's names are switched over."""


def _visible() -> int:
    text = os.environ.get(VISIBLE)
    return COUNT if text is None else len([part for part in text.split(",") if part.strip()])


class _PerThread(threading.local):
    index = 0


_current = _PerThread()


def device_count() -> int:
    """Devices that this process sees."""
    return min(COUNT, _visible())


def current_device() -> int:
    """The number of the device that this thread works on."""
    return _current.index


def set_device(device: Any) -> None:
    """Make a device the current one of this thread.  Raises: RuntimeError for a number that no device has."""
    _current.index = index_of(device)


def index_of(device: Any) -> int:
    """The number of a device that is given as a number, a text, a torch.device or None for the current one.

    Raises: RuntimeError for a number that no device has, ValueError for a device of another type.
    """
    if device is None:
        return _current.index
    if not isinstance(device, int):
        device = torch.device(device)
        if device.type not in TYPES:
            raise ValueError(f"Expected a npu device, but got: {device}")
        if device.index is None:
            return _current.index
        device = device.index
    if device == -1:
        return _current.index
    if not 0 <= device < device_count():
        raise RuntimeError(
            f"Invalid NPU device ID {device}: this simulated host has {device_count()} devices, npu:0 to npu:{device_count() - 1}"
        )
    return device


def device(index: int) -> torch.device:
    """The torch.device of a number."""
    return _DEVICES[index]


_DEVICES: list[torch.device] = []
OF_CPP = [torch.device(CPP, index) for index in range(COUNT)]
"""The devices that PyTorch's C++ takes the simulated ones for, by number."""


def name_devices() -> None:
    """Make the devices, once PyTorch knows their name."""
    _DEVICES[:] = [torch.device("npu", index) for index in range(COUNT)]


class DeviceContext:
    """A block in which another device is the current one.  device: as `index_of` takes it; a negative number changes nothing."""

    def __init__(self, device: Any) -> None:
        self.index = index_of(device)
        self.before = -1

    def __enter__(self) -> DeviceContext:
        self.before, _current.index = _current.index, self.index
        return self

    def __exit__(self, *error: object) -> None:
        _current.index = self.before
