"""New tensors of the simulated devices: the two operators by which PyTorch makes memory, and copies between it and the host."""

from __future__ import annotations

from typing import Any

import torch

from . import dispatch, numbering, shapes_only
from .tensor import NpuTensor, unwrapped

_library = torch.library.Library("aten", "IMPL")  # kernels live as long as this
_aten = torch.ops.aten

WHOLE = ("mish_backward", "native_channel_shuffle", "silu_backward")
"""Operators that PyTorch takes apart, with other last digits, for a device that has no kernel of its own for them."""

OF_HOST = {
    "tril_indices": torch.long, "triu_indices": torch.long, "kaiser_window": None, "kaiser_window.periodic": None,
    "kaiser_window.beta": None,
}  # fmt: skip
"""Factories that have kernels for PyTorch's own devices alone, and the type of what they make unless one is asked for."""

_PYTHON = torch._C.DispatchKey.Python


def _see_to_numbers() -> None:
    """Raises: RuntimeError where PyTorch's C++ would fill the new tensor without asking Python, and so with no numbers."""
    if torch._C._dispatch_tls_is_dispatch_key_excluded(_PYTHON):
        raise RuntimeError(
            "PyTorch makes this tensor in a way that the simulated NPU cannot follow: make it on the host, then .to('npu')"
        )


def _empty(
    size: Any, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: Any = None, memory_format: Any = None
) -> torch.Tensor:  # fmt: skip
    _see_to_numbers()
    index = numbering.index_of(device)
    dtype = dtype or torch.get_default_dtype()
    dispatch.room_for(index, torch.Size(size).numel() * dtype.itemsize)
    return NpuTensor(
        torch.empty(size, dtype=dtype, device=shapes_only.HOST, memory_format=memory_format or torch.contiguous_format), index
    )


def _empty_strided(
    size: Any, stride: Any, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: Any = None
) -> torch.Tensor:  # fmt: skip
    _see_to_numbers()
    index = numbering.index_of(device)
    return NpuTensor(torch.empty_strided(size, stride, dtype=dtype or torch.get_default_dtype(), device=shapes_only.HOST), index)


def _copy_from(source: torch.Tensor, target: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:
    unwrapped(target).copy_(unwrapped(source))
    dispatch.tell(torch.ops.aten._copy_from.default, (source, target), {}, target, numbering.current_device())
    return target


def _zeros(size: Any, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: Any = None) -> torch.Tensor:
    return torch.zeros(size, dtype=dtype, device=numbering.device(numbering.index_of(device)))


def _of_host(name: str, default: torch.dtype | None) -> Any:
    """A factory of PyTorch's that has no form for any device but its own: it makes the tensor on the host."""
    packet, _, overload = name.partition(".")
    operator = getattr(getattr(_aten, packet), overload or "default")

    def make(*args: Any, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: Any = None) -> torch.Tensor:
        made = operator(*args, dtype=dtype or default, device=shapes_only.HOST)
        return NpuTensor(made, numbering.index_of(device))

    return make


def _never_reached(*args: Any) -> Any:
    raise RuntimeError("PyTorch has not asked Python for an operator of the simulated NPU")


def install() -> None:
    """Register the operators with PyTorch."""
    for key in ("PrivateUse1", "Lazy"):
        _library.impl("empty.memory_format", _empty, key)
        _library.impl("empty_strided", _empty_strided, key)
        for name, default in OF_HOST.items():
            _library.impl(name, _of_host(name, default), key)
    _library.impl("_efficientzerotensor", _zeros, "Lazy")
    for name in WHOLE:
        _library.impl(name, _never_reached, "Lazy")
    _library.impl("_copy_from", _copy_from, "PrivateUse1")
