"""Functions and methods of PyTorch that take a device: one of CUDA becomes the NPU's.

Source of the list: what PyTorch itself calls constructors with a device, and what the vendor's transfer_to_npu switches.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial, wraps
from typing import Any

import torch
import torch.utils.data
from torch.nn.parameter import UninitializedTensorMixin
from torch.utils._device import DeviceContext, _device_constructors

from .._device import replaced
from .._device.tensor import NpuTensor
from .devices import of_keyword, of_npu

_device = torch.device

_LIKE = (
    "empty_like", "from_file", "full_like", "normal", "ones_like", "rand_like", "randint_like", "randn_like", "zeros_like",
    "_cudnn_init_dropout_state", "_empty_affine_quantized", "_empty_per_channel_affine_quantized", "_pin_memory",
    "_sparse_coo_tensor_unsafe", "_sparse_csr_tensor_unsafe",
)  # fmt: skip
"""Functions of torch that take a device beside those that a default device reaches."""

_OTHERS = (
    "set_default_device", "get_device_module", "set_autocast_dtype", "get_autocast_dtype", "is_autocast_cache_enabled",
)  # fmt: skip

_METHODS = (
    "is_pinned", "new_empty", "new_empty_strided", "new_full", "new_ones", "new_tensor", "new_zeros", "pin_memory", "to",
)  # fmt: skip

KEYWORDS = ("device", "device_type", "map_location", "device_id", "pin_memory_device", "output_device")
"""Names of arguments that take a device."""


def taking(function: Callable[..., Any], keywords: Collection[str] = KEYWORDS) -> Callable[..., Any]:
    """A function whose devices of CUDA become the NPU's, whether they come by place or by one of the keywords."""

    @wraps(function)
    def switched(*args: Any, **kwargs: Any) -> Any:
        if any(type(value) is str or type(value) is _device for value in args):
            args = tuple(of_npu(value) for value in args)
        for name in keywords:
            if name in kwargs:
                kwargs[name] = of_keyword(kwargs[name])
        return function(*args, **kwargs)

    return switched


def _put(owner: Any, name: str) -> None:
    function = getattr(owner, name, None)
    if function is not None:
        setattr(owner, name, taking(function))


def _constructors() -> list[tuple[Any, str]]:
    """Module and name of each function that a default device reaches."""
    known = _device_constructors()
    modules = (torch, torch.fft, torch.nested, torch.sparse)
    return [(module, name) for module in modules for name, value in vars(module).items() if callable(value) and value in known]


def _allow_to() -> None:
    """Let parameters without a size yet, those of lazy modules, move by what is torch.Tensor.to now."""
    UninitializedTensorMixin._allowed_methods.append(torch.Tensor.to)


def _ids(function: Callable[..., Any]) -> Callable[..., Any]:
    """DistributedDataParallel, whose device_ids may be devices of CUDA."""

    @wraps(function)
    def switched(self: Any, module: Any, device_ids: Any = None, *args: Any, **kwargs: Any) -> None:
        ids = [of_npu(value) for value in device_ids] if isinstance(device_ids, (list, tuple)) else device_ids
        function(self, module, ids, *args, **kwargs)

    return taking(switched)


def install() -> None:
    """Put the functions into the places of PyTorch's."""
    for module, name in _constructors():
        _put(module, name)
    for name in (*_LIKE, *_OTHERS):
        _put(torch, name)
    for name in _METHODS:
        _put(torch.Tensor, name)
        if name in vars(NpuTensor):
            _put(NpuTensor, name)
    _allow_to()
    for name in ("to", "to_empty"):
        _put(torch.nn.Module, name)
    for owner in (DeviceContext, torch.utils.data.DataLoader):
        _put(owner, "__init__")
    for name in ("custom_fwd", "custom_bwd", "is_autocast_available"):
        _put(torch.amp, name)
    torch.random.fork_rng = partial(taking(torch.random.fork_rng), device_type="npu")  # PyTorch's default is cuda
    replaced.Generator.__new__ = staticmethod(taking(replaced.Generator.__new__))
    parallel = torch.nn.parallel.DistributedDataParallel
    parallel.__init__ = _ids(parallel.__init__)
