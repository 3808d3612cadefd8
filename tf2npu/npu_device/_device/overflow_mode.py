"""The mode in which fp16 overflows show: saturation, or infinities and NaN."""

from __future__ import annotations

from npu_runtime.device import float_status

_MODES = {0: True, 1: False}
"""Whether a mode saturates."""


def set_device_sat_mode(mode: int) -> None:
    """Let results that are too large for fp16 be cut (0), or be infinities (1).  Raises: ValueError for another mode.

    While nobody asks, functions that run nodes in fp16 do as the chip, and all others give infinities.
    """
    if mode not in _MODES:
        raise ValueError(f"mode must be 0 (saturation) or 1 (infinities and NaN), got {mode!r}")
    float_status.ask(_MODES[mode])


def is_inf_nan_enabled() -> bool:
    """Whether infinities were asked for with ``set_device_sat_mode(1)``."""
    return float_status.asked is False
