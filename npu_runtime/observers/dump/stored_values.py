"""Values of a run as they lie in the device's memory: in 16 bits where the device computes in 16, and numbers only."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from npu_formats.vendor.dump_file import NUMBER_OF_TYPE
from npu_runtime.device import float_status
from npu_runtime.device.variable import Variable
from npu_runtime.observers.dump.operators import Tensor

NOTHING = np.empty(0, np.int64)
"""Stand-in for a text or a handle, so that the tensors behind it keep their numbers."""
_HALVES = {"float16": np.dtype(np.float16), "bfloat16": np.dtype(ml_dtypes.bfloat16)}


def array_of(value: Any) -> np.ndarray:
    """The numbers of a value as the runtime holds them, not copied: of a variable what it holds, NOTHING of what has none."""
    if isinstance(value, Variable):
        value = value.read() if value.is_initialized else NOTHING
    if not isinstance(value, np.ndarray | np.generic):
        return NOTHING
    array = np.asarray(value)
    return array if array.dtype.name in NUMBER_OF_TYPE else NOTHING


def copy_of(value: Any, tensor: Tensor) -> np.ndarray:
    """The numbers of a value as they lie on the device, in memory of their own and in one piece."""
    if isinstance(value, Variable):
        with value.lock:
            return _in_type(array_of(value), tensor.dtype, always_copies=True)
    return _in_type(array_of(value), tensor.dtype, always_copies=True)


def numbers_of(value: Any, tensor: Tensor) -> np.ndarray:
    """The numbers as `copy_of` gives them, but not copied where they lie as on the device."""
    return _in_type(array_of(value), tensor.dtype, always_copies=False)


def _in_type(array: np.ndarray, dtype: str, *, always_copies: bool) -> np.ndarray:
    half = _HALVES.get(dtype)
    if half is None or array.dtype != np.float32:
        return np.array(array, order="C") if always_copies else array
    if dtype == "float16" and float_status.saturates():
        array = np.clip(array, -float_status.LARGEST, float_status.LARGEST)  # what the rounding behind the operator cuts
    return np.asarray(array.astype(half, order="C"))  # clipping makes a scalar of an array without axes
