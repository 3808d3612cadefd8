"""Cast between all element types of the device."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.graph.spec import Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.shapes import same_as
from npu_runtime.kernels.threads.parallel import scratch
from npu_runtime.kernels.threads.tiling import NARROW, SMALL_STREAM, Body, run_tiled, to_float32

_DROPPED_BITS = {dt.to_numpy("float16"): 13, dt.to_numpy("bfloat16"): 16}
"""Bits of fp32's mantissa that a 16-bit float has no place for."""


_VECTORS = {np.dtype(np.float32): 32, dt.to_numpy("float16"): 8, dt.to_numpy("bfloat16"): 8}
"""Numbers that TensorFlow's CPU kernel turns into small integers at once; it does what is left of an array one by one.

Source: seen of the x86-64 wheels, which are built for AVX whatever the processor has.
"""
_PLAIN = frozenset(map(dt.to_numpy, ("float32", "int32", "int64")))
"""Types whose conversions need nothing but C's own."""
_SMALL_INTEGERS = frozenset(map(dt.to_numpy, ("int8", "uint8", "int16")))


def _convert(out: np.ndarray, x: np.ndarray) -> None:
    """C's conversion: towards zero to an integer, what is not zero (NaN too) is true, rounded to a narrower float."""
    if out.dtype == bool and x.dtype in NARROW:
        np.not_equal(x.view(np.uint16) & np.uint16(0x7FFF), np.uint16(0), out=out)  # by the bits: denormals are not zero
    elif out.dtype == bool:
        np.not_equal(x, x.dtype.type(0), out=out)
    elif x.dtype in NARROW and out.dtype == np.float32:
        to_float32(x, out)
    elif x.dtype in NARROW:
        np.copyto(out, to_float32(x), casting="unsafe")
    elif out.dtype in NARROW and x.dtype != np.float32:
        np.copyto(out, x.astype(np.float32), casting="unsafe")
    else:
        np.copyto(out, x, casting="unsafe")


def _saturate(out: np.ndarray, x: np.ndarray) -> None:
    """Floats to small integers, what does not fit to the nearest one; beyond 32 bits, and of NaN, to the least.

    Source: x86's CVTTPS2DQ, then PACKSSDW, PACKSSWB or PACKUSWB, as in Eigen's pcast.
    """
    whole = scratch("whole numbers", x.shape, np.int32)
    np.copyto(whole, to_float32(x) if x.dtype in NARROW else x, casting="unsafe")
    limits = np.iinfo(out.dtype)
    if np.minimum.reduce(whole, axis=None) < limits.min or np.maximum.reduce(whole, axis=None) > limits.max:  # seldom
        np.clip(whole, limits.min, limits.max, out=whole)
    np.copyto(out, whole, casting="unsafe")


def _to_small_integer(out: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Casts as TensorFlow's kernel does: what fills its vectors saturates, the rest keeps the low bits of a 32-bit integer."""
    run_tiled(_saturate, out, x)
    vector = 4 if x.dtype == np.float16 and out.dtype == np.int16 else _VECTORS[x.dtype]
    rest = x.size % vector
    if rest:
        few = np.empty(rest, out.dtype)
        _convert(few, x.flat[x.size - rest :])
        out.flat[x.size - rest :] = few
    return out


def _truncate(out: np.ndarray, x: np.ndarray) -> None:
    """fp32 to a 16-bit float without rounding up: the bits without a place are cleared first."""
    bits = np.ascontiguousarray(x).view(np.uint32) & np.uint32(0xFFFFFFFF << _DROPPED_BITS[out.dtype] & 0xFFFFFFFF)
    np.copyto(out, bits.view(np.float32), casting="unsafe")


def _key_of_float(specs: Sequence[Spec], attrs: dict[str, Any]) -> str | None:
    """Floats as keys: no processor says which bits a negative one gives."""
    return (
        "keys of random streams are made of integers only" if attrs["DstT"] in dt.KEYS and specs[0].dtype in dt.FLOATS else None
    )


def _small_cast(
    inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: Mapping[str, Any], is_planned: bool
) -> Callable[..., Any] | None:
    """See `base.Small`: few elements between types that C converts as TensorFlow does."""
    given, dtype = (dt.to_numpy(spec.dtype) for spec in (inputs[0], outputs[0]))
    if dtype not in _PLAIN or given not in _PLAIN | {np.dtype(bool)} or math.prod(outputs[0].known_shape()) > SMALL_STREAM:
        return None

    def run(x: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        if out is None:
            return x.astype(dtype)
        np.copyto(out, x, casting="unsafe")
        return out

    return run


@kernel("Cast", unit="vector", shape=same_as(0), dtypes={"SrcT": dt.MOVED, "DstT": dt.MOVED}, refuse=_key_of_float,
        small=_small_cast)  # fmt: skip
def cast(x: np.ndarray, /, *, DstT: str, Truncate: bool = False, out: np.ndarray | None = None) -> np.ndarray:
    """The same values in another type.

    DstT: type name.  Truncate: fp32 to fp16|bf16 towards zero instead of to the nearest; no meaning elsewhere.
    Returns: same shape.  Source: TensorFlow's core/kernels/cast_op.cc.
    """
    dtype = dt.to_numpy(DstT)
    made = np.empty(x.shape, dtype) if out is None else out
    if dtype in _SMALL_INTEGERS and x.dtype in _VECTORS:
        return _to_small_integer(made, x)
    body: Body = _truncate if Truncate and x.dtype == np.float32 and dtype in NARROW else _convert
    return run_tiled(body, made, x)
