"""Process groups that a script asks of NCCL, which are HCCL's on the NPU."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch

from .._observers import switched
from .arguments import taking

BACKEND = "hccl"
"""The backend that stands for NCCL; Gloo in the reference of a check."""


def _backend(value: Any) -> Any:
    """The name nccl as hccl, also in "cpu:gloo,cuda:nccl"; anything else as it is."""
    if not isinstance(value, str) or not any(name in value.lower() for name in ("nccl", "hccl")):
        return value
    made = value.lower().replace("nccl", BACKEND).replace("hccl", BACKEND).replace("cuda:", "npu:")
    if made == value.lower():
        return value
    switched.note(f'"{value}"', f'"{made}"')
    return made


def _grouping(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that takes a backend, by its keyword or as the first text."""

    @wraps(function)
    def made(*args: Any, **kwargs: Any) -> Any:
        if "backend" in kwargs:
            kwargs["backend"] = _backend(kwargs["backend"])
        return function(*[_backend(value) for value in args], **kwargs)

    return taking(made)


def _is_available() -> bool:
    switched.note("is_nccl_available", "is_hccl_available")
    return True


def install() -> None:
    """Put them into the places of PyTorch's, where it is built with torch.distributed."""
    if not torch.distributed.is_available():
        return
    from torch.distributed import device_mesh, distributed_c10d

    for name in ("init_process_group", "new_group"):
        function = _grouping(getattr(distributed_c10d, name))
        setattr(torch.distributed, name, function)
        setattr(distributed_c10d, name, function)
    torch.distributed.is_nccl_available = distributed_c10d.is_nccl_available = _is_available
    torch.distributed.init_device_mesh = device_mesh.init_device_mesh = taking(device_mesh.init_device_mesh)
    device_mesh.DeviceMesh.__init__ = taking(device_mesh.DeviceMesh.__init__)
