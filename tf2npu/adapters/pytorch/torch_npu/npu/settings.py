"""Knobs of the device that change no number here: what a script sets is kept and read back."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch

config = SimpleNamespace(allow_internal_format=False)
"""Whether tensors may take the chip's own formats: without effect, as numbers do not depend on them."""
matmul = SimpleNamespace(allow_hf32=False)
"""Whether matrices of float32 may be computed in HF32: they are computed in float32."""
conv = SimpleNamespace(allow_hf32=True)
"""Whether convolutions of float32 may be computed in HF32: they are computed in float32."""

_kept: dict[str, Any] = {"jit_compile": False, "is_nd": True, "sync_debug_mode": 0, "compatible": False}
_DEBUG_MODES = {"default": 0, "warn": 1, "error": 2}


def set_compile_mode(jit_compile: bool = False) -> None:
    """Keep whether operators are compiled on line."""
    _kept["jit_compile"] = bool(jit_compile)


def is_jit_compile_false() -> bool:
    """Whether operators are compiled ahead."""
    return not _kept["jit_compile"]


def set_option(option: dict[str, Any]) -> None:
    """Keep options of the device's compiler.  Raises: TypeError for anything but a dictionary."""
    if not isinstance(option, dict):
        raise TypeError("npu option must be a dict.")
    _kept.update(option)


def set_mm_bmm_format_nd(is_nd: bool = True) -> None:
    """Keep whether matrices have the format ND."""
    _kept["is_nd"] = bool(is_nd)


def get_mm_bmm_format_nd() -> bool:
    """Whether matrices have the format ND."""
    return _kept["is_nd"]


def set_sync_debug_mode(debug_mode: int | str) -> None:
    """Keep what is to be done when the host waits for the device.  Raises: RuntimeError for another mode than PyTorch has."""
    mode = _DEBUG_MODES.get(debug_mode, -1) if isinstance(debug_mode, str) else int(debug_mode)
    if mode not in _DEBUG_MODES.values():
        raise RuntimeError("invalid value of debug_mode, expected one of `default`, `warn`, `error`")
    _kept["sync_debug_mode"] = mode


def get_sync_debug_mode() -> int:
    """The reaction when the host waits for the device: 0 nothing, 1 a warning, 2 an error."""
    return _kept["sync_debug_mode"]


def use_compatible_impl(is_enabled: bool) -> None:
    """Keep whether operators are computed as on CUDA."""
    _kept["compatible"] = bool(is_enabled)


def are_compatible_impl_enabled() -> bool:
    """Whether operators are computed as on CUDA."""
    return _kept["compatible"]


def set_op_timeout_ms(timeout: int) -> None:
    """Keep how long an operator may take, in milliseconds: none is interrupted."""
    _kept["op_timeout_ms"] = int(timeout)


def set_deterministic_level(level: int) -> None:
    """Keep how exactly runs repeat each other: the CPU's kernels do at one thread."""
    _kept["deterministic_level"] = int(level)


def enable_deterministic_with_backward(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor, from which on operators repeat exactly."""
    return tensor


def disable_deterministic_with_backward(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor, from which on operators need not repeat exactly."""
    return tensor


def get_npu_overflow_flag() -> bool:
    """Whether an operator has overflowed in the saturating mode, which is not simulated: infinities stay infinities."""
    return False


def clear_npu_overflow_flag() -> None:
    """Nothing is marked."""


def is_current_stream_capturing() -> bool:
    """Whether operators are being captured for a graph: never."""
    return False


def is_autocast_enabled() -> bool:
    """Whether autocast is on for the device."""
    return torch.is_autocast_enabled("npu")


def set_autocast_enabled(enable: bool) -> None:
    """Switch autocast on or off for the device."""
    torch.set_autocast_enabled("npu", enable)


def get_autocast_dtype() -> torch.dtype:
    """The type that autocast casts to."""
    return torch.get_autocast_dtype("npu")


def set_autocast_dtype(dtype: torch.dtype) -> None:
    """Set the type that autocast casts to."""
    torch.set_autocast_dtype("npu", dtype)
