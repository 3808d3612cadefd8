"""Mixed precision that a script asks for on CUDA."""

from __future__ import annotations

from functools import wraps
from typing import Any

import torch

from .._observers import switched
from .arguments import taking
from .devices import of_npu

_Autocast, _Scaler = torch.amp.autocast_mode.autocast, torch.amp.grad_scaler.GradScaler


def _scaler(function: Any) -> Any:
    """GradScaler, whose device is cuda where none is named."""

    @wraps(function)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        if args:
            args = (of_npu(args[0]), *args[1:])
        elif "device" in kwargs:
            kwargs["device"] = of_npu(kwargs["device"])
        else:
            switched.note("GradScaler()", 'GradScaler("npu")')
            kwargs["device"] = of_npu("npu")
        function(self, *args, **kwargs)

    return init


def _is_enabled(device_type: Any = None) -> bool:
    return _of_torch["is_autocast_enabled"](of_npu(device_type or "npu"))


def _set_enabled(*args: Any) -> None:
    device_type, enabled = args if len(args) == 2 else ("npu", args[0])
    _of_torch["set_autocast_enabled"](of_npu(device_type), enabled)


def _dtype() -> torch.dtype:
    return _of_torch["get_autocast_dtype"](of_npu("npu"))


def _set_dtype(dtype: torch.dtype) -> None:
    _of_torch["set_autocast_dtype"](of_npu("npu"), dtype)


_REPLACED = {
    "is_autocast_enabled": _is_enabled,
    "set_autocast_enabled": _set_enabled,
    "get_autocast_gpu_dtype": _dtype,
    "set_autocast_gpu_dtype": _set_dtype,
}
"""Functions of torch that mean CUDA's autocast unless told otherwise."""

_of_torch = {name: getattr(torch, name) for name in (*_REPLACED, "get_autocast_dtype", "set_autocast_dtype")}


def install() -> None:
    """Switch autocast and GradScaler over, whichever device they name."""
    _Autocast.__init__ = taking(_Autocast.__init__)
    _Scaler.__init__ = _scaler(_Scaler.__init__)
    for name, function in _REPLACED.items():
        setattr(torch, name, function)
