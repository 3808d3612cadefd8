"""The reference of a check: the CPU stands for the devices of CUDA and of the NPU, and a script runs as where they are.

So a script with `.cuda()` in it computes with plain tensors of PyTorch. CUDA's names that tell of devices, memory and streams are
those of the simulated NPU, which nothing comes to.
"""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, ContextDecorator
from functools import wraps
from importlib import import_module
from typing import Any

import torch
from torch.nn.utils.rnn import PackedSequence

from .. import npu
from .._device import tensor_types
from . import devices, distributed, refused, tensors
from .frames import is_of_torch

_MARKING = ("nvtx", "profiler")
"""Modules of torch.cuda that mark what a script does."""
_Autocast = torch.amp.autocast_mode.autocast
_fork_of_torch = torch.random.fork_rng


class _HalfAutocast(_Autocast):
    """torch.cuda.amp.autocast and torch.npu.amp.autocast on the CPU, in CUDA's type."""

    def __init__(self, enabled: bool = True, dtype: torch.dtype = torch.float16, cache_enabled: bool = True) -> None:
        super().__init__("cpu", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)


class _Marks(AbstractContextManager[Any], ContextDecorator):
    """Stands for the functions of torch.cuda.nvtx and torch.cuda.profiler, which change no number: each call does nothing."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Take what any of them takes."""

    def __exit__(self, *error: object) -> None:
        """Let errors pass."""


class _OneDevice(torch.nn.Module):
    """torch.nn.DataParallel, which has one device here and hands all to its module."""

    def __init__(self, module: torch.nn.Module, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self.module = module

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)


def prepare() -> None:
    """Put into torch.npu what CUDA's modules are going to show."""
    devices.take_cpu()
    distributed.BACKEND = "gloo"
    for name in _MARKING:
        del refused.WHOLE_MODULES[name], refused.ADVICE[name]
        module = import_module(f"torch.cuda.{name}")
        for function in module.__all__:
            setattr(module, function, _Marks)
    npu.amp.autocast = _HalfAutocast
    for name in tensors.OLD_TYPES:
        tensors.OLD_TYPES[name] = getattr(torch, name)
        if hasattr(npu, name):
            setattr(npu, name, getattr(torch, name))
    tensor_types.TYPES |= tensors.OLD_TYPES


def _taking_numbers(function: Any) -> Any:
    """A function for which a number in the place of a device is one of an accelerator, and so the CPU."""

    @wraps(function)
    def taken(self: Any, *args: Any, **kwargs: Any) -> Any:
        if args and type(args[0]) is int:
            args = (devices.cpu(), *args[1:])
        return function(self, *args, **kwargs)

    return taken


def _to_cpu(self: Any, device: Any = None, non_blocking: bool = False, **kwargs: Any) -> Any:
    """`cuda()` and `npu()` of a tensor, a module or a packed sequence."""
    return self.to(devices.cpu(), **kwargs)


def _stays(self: Any, *args: Any, **kwargs: Any) -> Any:
    """`cuda()` and `npu()` of a storage."""
    return self


def _is_on_device(self: Any) -> bool:
    """`is_cuda` and `is_npu`: everything that a script computes with is where it would be on the device."""
    return not is_of_torch(sys._getframe(1))


def _autocast(function: Any) -> Any:
    """torch.autocast, whose type for CUDA is float16 where none is named."""

    @wraps(function)
    def init(self: Any, device_type: Any, dtype: Any = None, *args: Any, **kwargs: Any) -> None:
        is_device = devices.of_npu(device_type) != device_type
        function(self, device_type, torch.float16 if is_device and dtype is None else dtype, *args, **kwargs)

    return init


def _fork(devices: Any = None, enabled: bool = True, **kwargs: Any) -> AbstractContextManager[None]:
    """torch.random.fork_rng: all devices have the generator of the host, which is always forked."""
    return _fork_of_torch(devices=[], enabled=enabled, device_type="npu")


def _is_available() -> bool:
    """torch.accelerator.is_available: PyTorch's own functions find a machine without one."""
    return not is_of_torch(sys._getframe(1))


def _current(check_available: bool = False) -> torch.device | None:
    """torch.accelerator.current_accelerator: a script gets the device that the CPU stands for."""
    return None if is_of_torch(sys._getframe(1)) else torch.device("npu")


def _parallel(function: Any) -> Any:
    """DistributedDataParallel of a module on the CPU, which has no numbers of devices."""

    @wraps(function)
    def init(self: Any, module: Any, device_ids: Any = None, output_device: Any = None, *args: Any, **kwargs: Any) -> None:
        function(self, module, None, None, *args, **kwargs)

    return init


def _compile(model: Any = None, **options: Any) -> Any:
    """torch.compile, which leaves what it is given: what it computes is the same."""
    return model if model is not None else lambda function: function


def install() -> None:
    """Put the CPU into the places of the NPU, behind the parts that switch CUDA's names over."""
    for owner in (torch.Tensor, torch.nn.Module, PackedSequence):
        for name in ("cuda", "npu"):
            setattr(owner, name, _to_cpu)
    for owner in (torch.Tensor, PackedSequence):
        for name in ("is_cuda", "is_npu"):
            setattr(owner, name, property(_is_on_device))
    for owner in (torch.UntypedStorage, torch.TypedStorage):
        for name in ("cuda", "npu"):
            setattr(owner, name, _stays)
    for owner in (torch.Tensor, torch.nn.Module):
        owner.to = _taking_numbers(owner.to)
    _Autocast.__init__ = _autocast(_Autocast.__init__)
    torch.random.fork_rng = _fork
    torch.serialization.register_package(4, _no_tag, _restore)
    torch.compile = _compile
    torch.nn.DataParallel = torch.nn.parallel.DataParallel = _OneDevice
    parallel = torch.nn.parallel.DistributedDataParallel
    parallel.__init__ = _parallel(parallel.__init__)
    torch.accelerator.is_available = _is_available
    torch.accelerator.current_accelerator = _current


def _no_tag(storage: Any) -> None:
    return None


def _restore(storage: Any, location: str) -> Any:
    return storage if location.startswith(("cuda", "npu")) else None
