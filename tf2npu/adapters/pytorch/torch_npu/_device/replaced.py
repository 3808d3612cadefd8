"""Functions of PyTorch's own that ask C++ for what only Python knows of the simulated devices."""

from __future__ import annotations

from typing import Any

import torch

from . import numbering
from .tensor import NpuTensor

_Generator = torch.Generator


class _GeneratorMeta(type(_Generator)):
    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, _Generator)


class Generator(_Generator, metaclass=_GeneratorMeta):
    """torch.Generator, also of the device npu: its numbers are drawn by the host's generator of the same seed."""

    def __new__(cls, device: Any = "cpu") -> Any:
        wanted = torch.device(device)
        return _Generator("cpu") if wanted.type == "npu" and numbering.index_of(wanted) >= 0 else _Generator(device)


def _pinned(self: torch.Tensor, device: Any = None) -> torch.Tensor:
    """A pinned copy: memory of this machine, which no device reads by itself, so that pinning it changes nothing."""
    return self.clone() if not isinstance(self, NpuTensor) else self.pin_memory()


class _NoDataParallel(torch.nn.Module):
    """Stands for torch.nn.DataParallel, which the device has on no chip (the vendor's list of interfaces for 2.13)."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError(
            "torch.nn.DataParallel is not supported on the NPU: use torch.nn.parallel.DistributedDataParallel, a process a device"
        )


def _no_data_parallel(*args: Any, **kwargs: Any) -> Any:
    return _NoDataParallel(*args, **kwargs)


_group_of_torch = torch._C._group_tensors_by_device_and_dtype


def _group_by_device_and_type(lists: Any, with_indices: bool = False) -> dict[Any, Any]:
    """Lists of tensors in groups of one device and type, as optimizers take them; C++ has another name for the device."""
    known = [tensor for one in lists for tensor in one if tensor is not None]
    if not any(isinstance(tensor, NpuTensor) for tensor in known):
        return _group_of_torch(lists, with_indices)
    places: dict[Any, list[int]] = {}
    for place, tensor in enumerate(lists[0]):
        places.setdefault((tensor.device, tensor.dtype), []).append(place)
    return {key: ([[one[at] for at in found] if one else [] for one in lists], found) for key, found in places.items()}


_ctc_loss_of_torch = torch.ctc_loss


def _ctc_loss(log_probs: torch.Tensor, targets: torch.Tensor, *lengths_and_options: Any, **options: Any) -> torch.Tensor:
    """torch.ctc_loss, whose lengths may be tensors of the host: C++ divides by them where the loss is."""
    if isinstance(log_probs, NpuTensor):
        place = log_probs.device
        lengths_and_options = tuple(_moved(value, place) for value in lengths_and_options)
        options = {name: _moved(value, place) for name, value in options.items()}
    return _ctc_loss_of_torch(log_probs, targets, *lengths_and_options, **options)


_rank_of_torch = torch.linalg.matrix_rank


def _matrix_rank(*args: Any, out: Any = None, **kwargs: Any) -> torch.Tensor:
    """torch.linalg.matrix_rank, which leaves `out` as it was where that is of a class of its own."""
    if not isinstance(out, NpuTensor):
        return _rank_of_torch(*args, **kwargs, **({} if out is None else {"out": out}))
    made = _rank_of_torch(*args, **kwargs)
    return out.resize_(made.shape).copy_(made)


def _moved(value: Any, place: torch.device) -> Any:
    return value.to(place) if isinstance(value, torch.Tensor) else value


_apply_of_torch = torch.nn.Module._apply


def _apply(self: torch.nn.Module, function: Any, recurse: bool = True) -> torch.nn.Module:
    """Module._apply, by which modules move: parameters that something else holds are replaced by new ones, and not swapped."""
    try:
        return _apply_of_torch(self, function, recurse)
    except RuntimeError as error:
        if "Couldn't swap" not in str(error):
            raise
    torch.__future__.set_swap_module_params_on_conversion(False)
    try:
        return _apply_of_torch(self, function, recurse)
    finally:
        torch.__future__.set_swap_module_params_on_conversion(True)


def _no_nested_tensors(*args: Any, **kwargs: Any) -> Any:
    """Stands for the constructors of nested tensors while their parts are on a device."""
    raise RuntimeError(
        "nested tensors are not simulated on the NPU, where the device itself can make them but hardly compute with them: "
        "pad the sequences to one length (torch.nn.utils.rnn.pad_sequence), and mask what was added"
    )


def _nested(name: str) -> Any:
    of_torch = getattr(torch.nested, name)

    def construct(parts: Any, *args: Any, device: Any = None, **kwargs: Any) -> Any:
        of_device = device is not None and torch.device(device).type in numbering.TYPES
        if of_device or any(isinstance(part, NpuTensor) for part in parts):
            return _no_nested_tensors()
        return of_torch(parts, *args, device=device, **kwargs)

    return construct


def install() -> None:
    """Put them in their places."""
    torch._C._group_tensors_by_device_and_dtype = _group_by_device_and_type
    torch.Generator = Generator
    torch.nn.DataParallel = torch.nn.parallel.DataParallel = _NoDataParallel
    torch.nn.parallel.data_parallel = _no_data_parallel
    torch.Tensor.pin_memory = _pinned
    torch.__future__.set_swap_module_params_on_conversion(True)
    torch.nn.Module._apply = _apply
    torch.ctc_loss, torch.linalg.matrix_rank = _ctc_loss, _matrix_rank
    for name in ("nested_tensor", "as_nested_tensor", "nested_tensor_from_jagged", "narrow"):
        setattr(torch.nested, name, _nested(name))
    for name, function in _accelerator().items():
        setattr(torch.accelerator, name, function)


_OF_NPU = (
    "current_stream", "set_stream", "empty_cache", "memory_stats", "memory_allocated", "max_memory_allocated", "memory_reserved",
    "max_memory_reserved", "reset_peak_memory_stats", "reset_accumulated_memory_stats",
)  # fmt: skip
"""Functions that torch.accelerator has as torch.npu has them."""


def _accelerator() -> dict[str, Any]:
    """torch.accelerator, whose C++ side knows one device."""
    return {
        "device_count": numbering.device_count,
        "current_device_index": numbering.current_device,
        "current_device_idx": numbering.current_device,
        "set_device_index": numbering.set_device,
        "set_device_idx": numbering.set_device,
        "device_index": numbering.DeviceContext,
        "synchronize": lambda device=None: None,
        **{name: getattr(torch.npu, name) for name in _OF_NPU},
    }
