"""Checkpoints and copies of tensors: files that PyTorch reads on any machine, and files that it wrote anywhere."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import torch

from . import numbering
from .tensor import BEHAVIOUR, NpuTensor

_rebuild_from_host = torch._utils._rebuild_device_tensor_from_cpu_tensor
_rebuild_of_torch = torch._utils._rebuild_tensor


def deep_copy(source: NpuTensor, memo: dict[int, Any]) -> torch.Tensor:
    """`copy.deepcopy` of a tensor.  Raises: RuntimeError for one that is no leaf, in PyTorch's words."""
    if id(source) in memo:
        return memo[id(source)]
    if not source.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment. "
            "Use .detach() or clone the tensor"
        )
    made: torch.Tensor = NpuTensor(source.host.detach().clone(), source.index)
    if isinstance(source, torch.nn.Parameter):
        made = torch.nn.Parameter(made, source.requires_grad)
    else:
        made.requires_grad_(source.requires_grad)
    if source.grad is not None:
        made.grad = deep_copy(source.grad, memo)
    memo[id(source)] = made
    return made


def reduced(source: NpuTensor) -> tuple:
    """The parts that pickle keeps of a tensor: PyTorch's own functions, so that files are read where this package is not."""
    args = (source.host.detach(), source.dtype, str(source.device), False)
    plain = (_rebuild_from_host, args)
    if not isinstance(source, torch.nn.Parameter):
        return _rebuild_from_host, (*args[:3], source.requires_grad)
    return torch._utils._rebuild_parameter, (_Reduced(plain), source.requires_grad, OrderedDict())


class _Reduced:
    """Something that pickle writes as the call of a function."""

    def __init__(self, call: tuple) -> None:
        self.call = call

    def __reduce__(self) -> tuple:
        return self.call


def _tag(storage: Any) -> None:
    return None


def _restore(storage: Any, location: str) -> Any:
    """Marks the storage of a file that is to come to a simulated device.  Raises: RuntimeError for a location of another kind."""
    if not location.startswith("npu"):
        return None
    storage.npu_index = numbering.index_of(location)
    return storage


def _to_device(self: Any, device: Any = None, non_blocking: bool = False) -> Any:
    """`storage.npu()` in a function that is given as map_location."""
    self.npu_index = numbering.index_of(device)
    return self


def _rebuild_tensor(storage: Any, offset: int, size: Any, stride: Any) -> torch.Tensor:
    made = _rebuild_of_torch(storage, offset, size, stride)
    index = getattr(storage._untyped_storage, "npu_index", None)
    return made if index is None else NpuTensor(made, index)


def _restore_location(device: str) -> Any:
    """The device of a tensor that was saved on one.  A function as map_location is asked with an empty storage."""
    wanted = torch.serialization._serialization_tls.map_location
    if not callable(wanted):
        return _location_of_torch(device)
    storage = torch.UntypedStorage(0)
    given = wanted(storage, device)
    if given is None:
        return device
    index = getattr(given, "npu_index", None)
    return "cpu" if index is None else f"npu:{index}"


_location_of_torch = torch._utils._get_restore_location


def _with_place(load: Callable[..., Any]) -> Callable[..., Any]:
    """A function that reads a checkpoint, in which the place that is asked for is known, and forgotten after an error too."""

    def loaded(file: Any, map_location: Any, *args: Any, **kwargs: Any) -> Any:
        torch.serialization._serialization_tls.map_location = map_location
        try:
            return load(file, map_location, *args, **kwargs)
        finally:
            torch.serialization._serialization_tls.map_location = None

    return loaded


def install() -> None:
    """Register with PyTorch how files come to the devices.  5: before its own handlers of the host's and CUDA's storages."""
    for name in ("_load", "_legacy_load"):
        setattr(torch.serialization, name, _with_place(getattr(torch.serialization, name)))
    torch.serialization.register_package(5, _tag, _restore)
    torch.UntypedStorage.npu = torch.TypedStorage.npu = _to_device
    torch._utils._rebuild_tensor = _rebuild_tensor
    torch._utils._get_restore_location = _restore_location
    BEHAVIOUR.deep_copy, BEHAVIOUR.reduced = deep_copy, reduced
