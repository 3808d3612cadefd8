"""Checkpoints of CUDA, and those that a script written for CUDA loads: their tensors come to the NPU."""

from __future__ import annotations

from functools import wraps
from typing import Any

import torch

from .._device import numbering
from .._observers import switched
from .devices import of_npu


def _map(location: Any) -> Any:
    """A map_location for the NPU. The keys of a dict stay as well: a file that CUDA wrote has its names."""
    if not isinstance(location, dict):
        return of_npu(location)
    pairs = {key: of_npu(value) for key, value in location.items()}
    return {**pairs, **{of_npu(key): value for key, value in pairs.items()}}


def _loading(function: Any) -> Any:
    @wraps(function)
    def load(f: Any, map_location: Any = None, *args: Any, **kwargs: Any) -> Any:
        return function(f, _map(map_location), *args, **kwargs)

    return load


def _restore(storage: Any, location: str) -> Any:
    """Marks the storage of a file of CUDA as one for the NPU.  Raises: RuntimeError for a number that no device has."""
    if not location.startswith("cuda"):
        return None
    storage.npu_index = numbering.index_of(location.replace("cuda", "npu"))
    return storage


def _to_device(self: Any, device: Any = None, non_blocking: bool = False) -> Any:
    """`storage.cuda()` in a function that is given as map_location."""
    switched.note(".cuda", ".npu")
    self.npu_index = numbering.index_of(device)
    return self


def _nothing(storage: Any) -> None:
    return None


def install() -> None:
    """Let torch.load understand CUDA's locations. 6: behind the NPU's own, before those of PyTorch."""
    torch.serialization.register_package(6, _nothing, _restore)
    torch.load = torch.serialization.load = _loading(torch.serialization.load)
    torch.UntypedStorage.cuda = torch.TypedStorage.cuda = _to_device
