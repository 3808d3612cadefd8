"""Comparisons, logic on booleans and bits, and choosing between tensors.

Source: TensorFlow's core/kernels/cwise_ops.h, cwise_op_select.cc, cwise_op_clip.cc and where_op.cc.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.cost.work import per_element
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.shapes import broadcast, merge, same_as
from npu_runtime.kernels.threads.tiling import OneUfunc, choose, elementwise, filled, result_buffer, run_tiled, widened
from npu_runtime.kernels.variable_access import shape_text

BOOL = np.dtype(bool)
FEW, FEW_BY_ROWS = 1024, 16384
"""Elements up to which `np.where`, one call that branches, is faster than bits; and where a condition holds for a row of them.
"""
FEWEST_A_CONDITION = 16
"""Elements that each condition decides about, from which on rows are chosen as a whole."""
FREE: dict[str, frozenset[str]] = {}
"""The element types of ops without a type attribute: any."""

_COMPARISONS: dict[str, np.ufunc] = {
    "Less": np.less, "LessEqual": np.less_equal, "Greater": np.greater, "GreaterEqual": np.greater_equal,
}  # fmt: skip
_ON_BITS: dict[str, np.ufunc] = {"BitwiseAnd": np.bitwise_and, "BitwiseOr": np.bitwise_or, "BitwiseXor": np.bitwise_xor}
for _op, _ufunc in _COMPARISONS.items():
    elementwise(_op, dtypes=dt.NUMBERS, shape=broadcast, result="bool", inplace=())(OneUfunc(_ufunc))
elementwise("LogicalAnd", flops=0, dtypes=FREE, shape=broadcast, inplace=(0, 1))(OneUfunc(np.logical_and))
elementwise("LogicalOr", flops=0, dtypes=FREE, shape=broadcast, inplace=(0, 1))(OneUfunc(np.logical_or))
elementwise("LogicalNot", flops=0, dtypes=FREE)(OneUfunc(np.logical_not))
for _op, _ufunc in _ON_BITS.items():
    elementwise(_op, flops=0, dtypes=dt.INTEGERS, shape=broadcast, inplace=(0, 1))(OneUfunc(_ufunc))
elementwise("Invert", flops=0, dtypes=dt.INTEGERS)(OneUfunc(np.invert))


def _bounded_shift(out: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Shift counts held inside [0, bits - 1], where the machine's shift is defined."""
    bits = out.dtype.itemsize * 8
    return np.clip(y, 0, bits - 1).astype(y.dtype)


@elementwise("LeftShift", flops=0, dtypes=dt.INTEGERS, shape=broadcast, inplace=(0, 1))
def left_shift(out: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
    """x << y with y held inside [0, bits - 1]."""
    np.left_shift(x, _bounded_shift(out, y), out=out)


@elementwise("RightShift", flops=0, dtypes=dt.INTEGERS, shape=broadcast, inplace=(0, 1))
def right_shift(out: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
    """x >> y with y held inside [0, bits - 1]; the sign is kept."""
    np.right_shift(x, _bounded_shift(out, y), out=out)


def _equality_shape(x: Spec, y: Spec, *, incompatible_shape_error: bool = True) -> Shape:
    if incompatible_shape_error:
        return broadcast(x, y)
    try:
        shape = broadcast(x, y)
    except InvalidArgument:
        return ()
    return shape if x.is_complete and y.is_complete else None


@kernel("Equal", unit="vector", shape=_equality_shape, dtypes=dt.ALL, estimate=per_element(1))
def equal(x: np.ndarray, y: np.ndarray, /, *, incompatible_shape_error: bool = True, out: np.ndarray | None = None) -> np.ndarray:
    """x == y after broadcasting; NaN equals nothing.

    incompatible_shape_error: when False, shapes that do not fit give the scalar False.  Source: TensorFlow op `Equal`.
    """
    return _compare(np.equal, x, y, incompatible_shape_error, out)


@kernel("NotEqual", unit="vector", shape=_equality_shape, dtypes=dt.ALL, estimate=per_element(1))
def not_equal(
    x: np.ndarray, y: np.ndarray, /, *, incompatible_shape_error: bool = True, out: np.ndarray | None = None
) -> np.ndarray:
    """x != y after broadcasting; see `Equal`."""
    return _compare(np.not_equal, x, y, incompatible_shape_error, out)


def _compare(ufunc: np.ufunc, x: np.ndarray, y: np.ndarray, must_fit: bool, out: np.ndarray | None) -> np.ndarray:
    try:
        made = result_buffer((x, y), BOOL, out)
    except InvalidArgument:
        if must_fit:
            raise
        return np.array(ufunc is np.not_equal)
    if made.shape == () and x.ndim + y.ndim:  # a planned buffer for shapes that do not fit
        made[...] = ufunc is np.not_equal
        return made
    return run_tiled(OneUfunc(ufunc), made, x, y)


@kernel("ApproximateEqual", unit="vector", shape=broadcast, dtypes=frozenset({"float32"}), estimate=per_element(3))
def approximate_equal(x: np.ndarray, y: np.ndarray, /, *, tolerance: float = 1e-5, out: np.ndarray | None = None) -> np.ndarray:
    """|x - y| < tolerance. Raises: InvalidArgument when the shapes differ. Source: TensorFlow op `ApproximateEqual`."""
    if x.shape != y.shape:
        shapes = f"x shape: {shape_text(x.shape)}. y shape: {shape_text(y.shape)}"
        raise InvalidArgument(f"x and y must be of the same shape. {shapes}")

    def body(out: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
        np.less(np.abs(x - y), np.float32(tolerance), out=out)

    return run_tiled(body, result_buffer((x,), BOOL, out), x, y)


def _small_select(
    inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: Mapping[str, Any], is_planned: bool
) -> Callable[..., Any] | None:
    """See `base.Small`: numpy's own choice, where `_selected` takes it."""
    shape = outputs[0].known_shape()
    return _where if shape and _is_for_where(math.prod(shape), math.prod(inputs[0].known_shape())) else None


def _where(condition: np.ndarray, t: np.ndarray, e: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    made = np.where(condition, t, e)
    if out is None:
        return made
    np.copyto(out, made)
    return out


@kernel("SelectV2", unit="vector", shape=broadcast, inplace=(1, 2), small=_small_select)
def select_v2(condition: np.ndarray, t: np.ndarray, e: np.ndarray, /, *, out: np.ndarray | None = None) -> np.ndarray:
    """t where the condition holds, else e; all three broadcast. Source: TensorFlow op `SelectV2`."""
    return _selected(condition, t, e, result_buffer((condition, t, e), t.dtype, out))


def _selected(condition: np.ndarray, t: np.ndarray, e: np.ndarray, out: np.ndarray) -> np.ndarray:
    """out = t where the condition holds, else e, which broadcast to it; it may be one of them."""
    if _is_for_where(out.size, condition.size):
        return _where(condition, t, e, out)
    return run_tiled(choose, out, condition, t, e)


def _is_for_where(size: int, conditions: int) -> bool:
    return size <= FEW or FEWEST_A_CONDITION * conditions <= size <= FEW_BY_ROWS


def _select_shape(condition: Spec, t: Spec, e: Spec) -> Shape:
    return merge(t.shape, e.shape)


@kernel("Select", unit="vector", shape=_select_shape, inplace=(1, 2))
def select(condition: np.ndarray, t: np.ndarray, e: np.ndarray, /, *, out: np.ndarray | None = None) -> np.ndarray:
    """t where the condition holds, else e, both of one shape.

    condition: bool, of that shape, a scalar, or a vector that chooses whole rows of axis 0.
    Raises: InvalidArgument for other shapes.  Source: TensorFlow op `Select`.
    """
    if t.shape != e.shape:
        shapes = f"{shape_text(t.shape)} vs. {shape_text(e.shape)}"
        raise InvalidArgument(f"'then' and 'else' must have the same size.  but received: {shapes}")
    if condition.shape != t.shape and condition.ndim == 1 and condition.shape == t.shape[:1]:
        condition = condition.reshape(-1, *(1,) * (t.ndim - 1))
    elif condition.ndim and condition.shape != t.shape:
        if condition.ndim == 1:
            sizes = f"{t.shape[0] if t.ndim else 0} vs. {condition.size}"
            raise InvalidArgument(f"Number of batches of 'then' must match size of 'cond', but saw: {sizes}")
        raise InvalidArgument(f"'cond' must be a vector, but saw shape: {shape_text(condition.shape)}")
    return _selected(condition, t, e, result_buffer((t,), None, out))


def _where_shape(x: Spec) -> Shape:
    return None if x.rank is None else (None, x.rank)


@kernel("Where", unit="memory", shape=_where_shape, dtypes=dt.ALL - {"float16"})
def where(x: np.ndarray, /) -> np.ndarray:
    """Coordinates of the elements that are not zero (NaN is not), in row-major order.

    x: 1 to 8 axes, any type but fp16, which TensorFlow refuses.  Returns: (n, rank) int64.
    Raises: InvalidArgument for a scalar and for more axes.  Source: TensorFlow op `Where`.
    """
    if not 1 <= x.ndim <= 8:
        raise InvalidArgument(f"WhereOp : Unhandled input dimensions: {x.ndim}")
    found = np.flatnonzero(x != 0)
    if x.ndim == 1:
        return found.reshape(-1, 1).astype(np.int64, copy=False)
    return np.stack(np.unravel_index(found, x.shape), axis=-1).astype(np.int64, copy=False)


def _clip(out: np.ndarray, t: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
    np.minimum(t, _repeated(high, t), out=out)
    np.maximum(out, _repeated(low, t), out=out)


def _repeated(bound: np.ndarray, t: np.ndarray) -> np.ndarray | float:
    """A scalar in the shape of t: numpy's minimum and maximum are five times faster on two arrays."""
    return filled(bound.item(), t) if bound.size == 1 else bound


@kernel("ClipByValue", unit="vector", shape=same_as(0), dtypes=dt.NUMBERS, estimate=per_element(2), inplace=(0,))
def clip_by_value(
    t: np.ndarray, clip_value_min: np.ndarray, clip_value_max: np.ndarray, /, *, out: np.ndarray | None = None
) -> np.ndarray:
    """t held inside [min, max].

    clip_value_min, clip_value_max: scalars or t's shape.  Raises: InvalidArgument for other shapes.
    Source: TensorFlow op `ClipByValue`.
    """
    for bound in (clip_value_min, clip_value_max):
        if bound.ndim and bound.shape != t.shape:
            raise InvalidArgument(
                "clip_value_min and clip_value_max must be either of the same shape as input, or a scalar. "
                f"input shape: {shape_text(t.shape)}clip_value_min shape: {shape_text(clip_value_min.shape)}"
                f"clip_value_max shape: {shape_text(clip_value_max.shape)}"
            )
    low, high = (b if b.shape == t.shape else b.reshape(()) for b in (clip_value_min, clip_value_max))
    return run_tiled(widened(_clip), result_buffer((t,), None, out), t, low, high)
