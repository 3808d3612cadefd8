"""Tensors made of Python's numbers and of arrays: made on the host, then copied to the device.

PyTorch's C++ makes them with all dispatch to Python switched off, so that its copy to a simulated device would copy nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.jit import _builtins as jit_names
from torch.overrides import _get_current_function_mode_stack
from torch.utils import _device as default_device

from . import numbering
from .tensor import NpuTensor

CONSTRUCTORS = (
    "tensor", "as_tensor", "asarray", "sparse_coo_tensor", "sparse_compressed_tensor", "sparse_csr_tensor", "sparse_csc_tensor",
    "sparse_bsr_tensor", "sparse_bsc_tensor",
)  # fmt: skip
"""Functions of torch whose data become tensors of the device that is asked for."""

_new_tensor = torch.Tensor.new_tensor


def _index_wanted(device: Any, parts: tuple) -> int:
    """The number of the simulated device that a call means, or -1.  parts: its data, whose device counts if none is named."""
    if device is None and torch._C._len_torch_function_stack():
        device = _default()
    if device is None:
        return next((part.index for part in parts if isinstance(part, NpuTensor)), -1)
    if isinstance(device, int):
        return numbering.index_of(device)
    device = torch.device(device)
    return numbering.index_of(device) if device.type in numbering.TYPES else -1


def _default() -> torch.device | None:
    """The device of the innermost `with torch.device(...)`, else the one of torch.set_default_device."""
    modes = reversed(_get_current_function_mode_stack())
    return next((mode.device for mode in modes if isinstance(mode, default_device.DeviceContext)), None)


def _of_host(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_of_host(part) for part in value]
    return value.to("cpu") if isinstance(value, NpuTensor) else value


def _made(of_torch: Callable[..., Any], args: tuple, kwargs: dict[str, Any]) -> torch.Tensor:
    """The tensor that PyTorch makes on the host.  args, kwargs: its arguments, among whose numbers may be tensors of a device."""
    try:
        return of_torch(*args, **kwargs)
    except TypeError:  # tensors of a device have no length where they have no dimension, and C++ asks for one
        return of_torch(*map(_of_host, args), **{name: _of_host(value) for name, value in kwargs.items()})


def _constructor(name: str) -> Callable[..., Any]:
    of_torch = getattr(torch, name)

    def construct(*args: Any, device: Any = None, requires_grad: bool = False, **kwargs: Any) -> torch.Tensor:
        index = _index_wanted(device, args)
        if index < 0:
            wanted = {} if device is None else {"device": device}
            return _made(of_torch, args, {**wanted, **kwargs, **({"requires_grad": True} if requires_grad else {})})
        if args and isinstance(args[0], NpuTensor) and name in ("as_tensor", "asarray") and not kwargs.get("copy"):
            result = args[0].to(numbering.device(index), kwargs.get("dtype"))
        else:
            own = [_of_host(value) if isinstance(value, torch.Tensor) else value for value in args]
            own_keywords = {key: _of_host(value) if isinstance(value, torch.Tensor) else value for key, value in kwargs.items()}
            host = _made(of_torch, tuple(own), {"device": "cpu", **own_keywords})
            result = host.to(numbering.device(index))
        return result.requires_grad_() if requires_grad else result

    construct.__name__ = construct.__qualname__ = name
    construct.__doc__ = of_torch.__doc__
    return construct


def new_tensor(self: torch.Tensor, data: Any, dtype: Any = None, device: Any = None, **kwargs: Any) -> torch.Tensor:
    """`Tensor.new_tensor`: of the type and the device of a tensor, unless asked otherwise."""
    index = _index_wanted(device, (self,))
    if index < 0:
        return _new_tensor(_of_host(self), data, dtype=dtype, device=device, **kwargs)
    kwargs.pop("layout", None)
    kwargs.pop("pin_memory", None)
    return torch.tensor(data, dtype=dtype or self.dtype, device=numbering.device(index), **kwargs)


def new(self: NpuTensor, *args: Any, device: Any = None) -> torch.Tensor:
    """The old `Tensor.new`: sizes, numbers in a list, another tensor or nothing."""
    if len(args) == 1 and isinstance(args[0], torch.Tensor):
        return args[0].to(self.device, self.dtype)
    if len(args) == 1 and not isinstance(args[0], (int, torch.Size)):
        return new_tensor(self, args[0], device=device)
    return self.new_empty(args[0] if args and isinstance(args[0], torch.Size) else args or (0,), device=device)


def install() -> None:
    """Put the functions in the place of PyTorch's, which serve all other devices."""
    known = default_device._device_constructors()  # PyTorch's own and ours: the default device counts for both
    for name in CONSTRUCTORS:
        made, operator = _constructor(name), jit_names._find_builtin(getattr(torch, name))
        if operator is not None:
            jit_names._register_builtin(made, operator)  # torch.jit goes on to compile functions that call it
        setattr(torch, name, made)
    known.update(getattr(torch, name) for name in CONSTRUCTORS)
    torch.Tensor.new_tensor = new_tensor
    NpuTensor.new = new
