"""Parts of variables set by strided slices."""

from __future__ import annotations

from typing import Any

import numpy as np

from npu_runtime.device.variable import Variable
from npu_runtime.dtypes import ALL, INDICES
from npu_runtime.errors import InvalidArgument
from npu_runtime.kernels import variable_access
from npu_runtime.kernels.array.slicing import _index
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.shapes import same_as

TYPES = {"T": ALL, "Index": INDICES}


def _fitting(value: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The value without leading axes that the slice does not have."""
    more = max(0, value.ndim - len(shape))
    fits = zip(reversed(value.shape), reversed(shape), strict=False)
    if any(n != 1 for n in value.shape[:more]) or any(m not in (1, n) for m, n in fits):
        shapes = f"input shape {variable_access.shape_text(value.shape)} into final shape {variable_access.shape_text(shape)}"
        raise InvalidArgument(f"Cannot broadcast {shapes}")
    return value.reshape(value.shape[more:])


def _assign(
    ref: Variable, begin: np.ndarray, end: np.ndarray, strides: np.ndarray, value: np.ndarray, masks: tuple[int, ...]
) -> Any:
    """The value broadcasts to the slice; it may have more axes of extent 1, and any shape where the slice is empty.

    Raises: InvalidArgument.  Source: TensorFlow core/kernels/strided_slice_op.cc, StridedSliceAssignOp.
    """
    changed = variable_access.value(ref).copy()
    index = _index(changed.shape, begin, end, strides, masks)
    part = changed[index]
    if part.size:
        changed[index] = _fitting(value, part.shape)
        ref.assign(changed)
    return variable_access.result(ref)


@kernel("ResourceStridedSliceAssign", unit="memory", shape=variable_access.no_outputs, dtypes=TYPES)
def resource_strided_slice_assign(
    ref: Variable, begin: np.ndarray, end: np.ndarray, strides: np.ndarray, value: np.ndarray, /, *, begin_mask: int = 0,
    end_mask: int = 0, ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0,
) -> Any:  # fmt: skip
    """Set a slice of a resource variable; see `StridedSlice`.  Source: TensorFlow op `ResourceStridedSliceAssign`."""
    masks = begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask
    return _assign(ref, begin, end, strides, value, masks)


@kernel("StridedSliceAssign", unit="memory", shape=same_as(0), dtypes=TYPES)
def strided_slice_assign(
    ref: Variable, begin: np.ndarray, end: np.ndarray, strides: np.ndarray, value: np.ndarray, /, *, begin_mask: int = 0,
    end_mask: int = 0, ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0,
) -> Any:  # fmt: skip
    """Set a slice of a ref variable and return it.  Source: TensorFlow op `StridedSliceAssign`."""
    masks = begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask
    return _assign(ref, begin, end, strides, value, masks)
