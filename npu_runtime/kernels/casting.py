"""Cast between all element types of the device."""

from __future__ import annotations

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.shapes import same_as
from npu_runtime.kernels.tiles import NARROW, Body, run_tiled, to_float32

_DROPPED_BITS = {dt.to_numpy("float16"): 13, dt.to_numpy("bfloat16"): 16}
"""Bits of fp32's mantissa that a 16-bit float has no place for."""


def _convert(out: np.ndarray, x: np.ndarray) -> None:
    """C's conversion: towards zero to an integer, what is not zero (NaN too) is true, rounded to a narrower float."""
    if out.dtype == bool:
        np.not_equal(x, x.dtype.type(0), out=out)
    elif x.dtype in NARROW and out.dtype == np.float32:
        to_float32(x, out)
    elif x.dtype in NARROW:
        np.copyto(out, to_float32(x), casting="unsafe")
    elif out.dtype in NARROW and x.dtype != np.float32:
        np.copyto(out, x.astype(np.float32), casting="unsafe")
    else:
        np.copyto(out, x, casting="unsafe")


def _truncate(out: np.ndarray, x: np.ndarray) -> None:
    """fp32 to a 16-bit float without rounding up: the bits without a place are cleared first."""
    bits = np.ascontiguousarray(x).view(np.uint32) & np.uint32(0xFFFFFFFF << _DROPPED_BITS[out.dtype] & 0xFFFFFFFF)
    np.copyto(out, bits.view(np.float32), casting="unsafe")


@kernel("Cast", unit="vector", shape=same_as(0), dtypes={"SrcT": dt.ALL, "DstT": dt.ALL})
def cast(x: np.ndarray, /, *, DstT: str, Truncate: bool = False, out: np.ndarray | None = None) -> np.ndarray:
    """The same values in another type.

    DstT: type name.  Truncate: fp32 to fp16|bf16 towards zero instead of to the nearest; no meaning elsewhere.
    Returns: same shape.  Source: TensorFlow's core/kernels/cast_op.cc.
    """
    dtype = dt.to_numpy(DstT)
    made = np.empty(x.shape, dtype) if out is None else out
    body: Body = _truncate if Truncate and x.dtype == np.float32 and dtype in NARROW else _convert
    return run_tiled(body, made, x)
