"""Arithmetic of two broadcast tensors, and AddN.

Source: TensorFlow's core/kernels/cwise_ops.h for what happens at zero, for the rounding of integer divisions and for the
types of each op's CPU kernel.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.cost.work import Estimate, n_elements
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.shapes import broadcast, merge
from npu_runtime.kernels.threads.parallel import scratch
from npu_runtime.kernels.threads.tiling import SMALL, OneUfunc, choose, elementwise, filled, keep_where, run_tiled, widened
from npu_runtime.kernels.variable_access import shape_text

BOTH = (0, 1)
"""Inputs whose buffer the result may take over."""
_PLAIN: dict[str, np.ufunc] = {"Add": np.add, "AddV2": np.add, "Sub": np.subtract, "Mul": np.multiply}
for _op, _ufunc in _PLAIN.items():
    elementwise(_op, dtypes=dt.NUMBERS, shape=broadcast, inplace=BOTH)(OneUfunc(_ufunc))
elementwise("RealDiv", shape=broadcast, inplace=BOTH)(OneUfunc(np.divide))
elementwise("Atan2", shape=broadcast, inplace=BOTH)(OneUfunc(np.arctan2))


@elementwise("Maximum", dtypes=dt.NUMBERS, shape=broadcast, inplace=BOTH)
def maximum(out: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
    """The larger one; NaN where either is NaN."""
    np.maximum(*_alike(out, x, y), out=out)


@elementwise("Minimum", dtypes=dt.NUMBERS, shape=broadcast, inplace=BOTH)
def minimum(out: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
    """The smaller one; NaN where either is NaN."""
    np.minimum(*_alike(out, x, y), out=out)


def _alike(out: np.ndarray, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray | float, np.ndarray | float]:
    """Scalars repeated: numpy's minimum and maximum are slow on them."""
    if x.size == y.size or out.size < 256:
        return x, y
    return filled(x.item(), out) if x.size == 1 else x, filled(y.item(), out) if y.size == 1 else y


@elementwise("SquaredDifference", flops=2, dtypes=dt.FLOATS | dt.INDICES, shape=broadcast, inplace=BOTH)
def squared_difference(out: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
    """(x - y) squared."""
    np.subtract(x, y, out=out)
    np.square(out, out=out)


@elementwise("Div", dtypes=dt.NUMBERS, shape=broadcast, inplace=BOTH)
def divide(out: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
    """x / y; of integers the quotient rounded towards zero. Raises: InvalidArgument for an integer division by zero."""
    if x.dtype.kind == "f":
        np.divide(x, y, out=out)
    else:
        truncate_divide(out, x, y)


@elementwise("TruncateDiv", dtypes=dt.NUMBERS, shape=broadcast, inplace=BOTH)
def truncate_divide(out: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
    """The quotient rounded towards zero. Raises: InvalidArgument for an integer division by zero (there Internal)."""
    if x.dtype.kind == "f":
        np.divide(x, y, out=out)
        np.trunc(out, out=out)
        return
    _refuse_zero(y)
    np.floor_divide(x - np.fmod(x, y), y, out=out)


@elementwise("FloorDiv", dtypes=dt.NUMBERS, shape=broadcast, inplace=BOTH)
def floor_divide(out: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
    """floor(x / y), for fractions of the rounded quotient. Raises: InvalidArgument for an integer division by zero."""
    if x.dtype.kind == "f":
        np.divide(x, y, out=out)
        np.floor(out, out=out)
        return
    _refuse_zero(y)
    np.floor_divide(x, y, out=out)


@elementwise("FloorMod", dtypes=dt.NUMBERS, shape=broadcast, inplace=BOTH)
def floor_modulo(out: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
    """The rest with y's sign. Raises: InvalidArgument for an integer division by zero."""
    _refuse_zero(y)
    if x.dtype.kind != "f":
        np.remainder(x, y, out=out)
        return
    rest = np.fmod(x, y)
    shifted = rest + y
    keeps = (rest == 0) | ((rest < 0) == (np.asarray(y) < 0))
    choose(out, keeps, rest, shifted)


@elementwise("Mod", "TruncateMod", dtypes=dt.INDICES | {"float32"}, shape=broadcast, inplace=BOTH)
def truncated_modulo(out: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
    """The rest with x's sign. Raises: InvalidArgument for an integer division by zero."""
    _refuse_zero(y)
    np.fmod(x, y, out=out)


def _refuse_zero(divisor: np.ndarray) -> None:
    if divisor.dtype.kind != "f" and not divisor.all():
        raise InvalidArgument("Integer division by zero")


@elementwise("Pow", dtypes=dt.NUMBERS - {"uint8"}, shape=broadcast, inplace=BOTH)
def power(out: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
    """x to the power y. Raises: InvalidArgument for an integer to a negative power."""
    if x.dtype.kind != "f" and (y < 0).any():
        raise InvalidArgument("Integers to negative integer powers are not allowed")
    exponent = float(y.flat[0]) if x.dtype.kind == "f" and y.size == 1 else None
    if exponent == 2.0:
        np.multiply(x, x, out=out)
    elif exponent == 3.0:  # twenty times faster than the power, and within an ulp of it
        np.multiply(x * x, x, out=out)
    else:
        np.power(x, y, out=out)


@elementwise("DivNoNan", shape=broadcast, inplace=BOTH)
def divide_or_zero(out: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
    """x / y, 0 where y is 0."""
    counts = y != 0
    np.divide(x, y, out=out)
    keep_where(out, counts)


@elementwise("MulNoNan", shape=broadcast, inplace=BOTH)
def multiply_or_zero(out: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
    """x * y, 0 where y is 0 even if x is not finite."""
    counts = y != 0
    np.multiply(x, y, out=out)
    keep_where(out, counts)


@elementwise("Xdivy", shape=broadcast, inplace=BOTH)
def x_divided_by_y(out: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
    """x / y, 0 where x is 0 even if y is."""
    counts = x != 0
    np.divide(x, y, out=out)
    keep_where(out, counts)


@elementwise("Xlogy", flops=2, shape=broadcast, inplace=BOTH)
def x_log_y(out: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
    """x * log(y), 0 where x is 0."""
    _x_times(out, x, np.log(y))


@elementwise("Xlog1py", flops=2, shape=broadcast, inplace=BOTH)
def x_log1p_y(out: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
    """x * log(1 + y), 0 where x is 0."""
    _x_times(out, x, np.log1p(y))


def _x_times(out: np.ndarray, x: np.ndarray, factor: np.ndarray) -> None:
    counts = x != 0
    np.multiply(x, factor, out=out)
    keep_where(out, counts)


def _add_n_flops() -> Estimate:
    return lambda inputs, outputs, attrs: (len(inputs) - 1) * n_elements(outputs[0])


def _merged(*specs: Spec) -> Shape:
    shape: Shape = None
    for spec in specs:
        shape = merge(shape, spec.shape)
    return shape


def _small_sum(
    inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: Mapping[str, Any], is_planned: bool
) -> Callable[..., Any] | None:
    """See `base.Small`: numpy's addition, of as many terms as are added one after the other."""
    is_alike = all(spec.shape == inputs[0].shape for spec in inputs) and (is_planned or inputs[0].rank)
    fits = is_alike and outputs[0].dtype == "float32" and 0 < math.prod(outputs[0].known_shape()) <= SMALL
    if not fits or not 2 <= len(inputs) <= MOST_IN_ORDER:
        return None
    return np.add if len(inputs) == 2 else _add_in_order


@kernel("AddN", unit="vector", shape=_merged, dtypes=dt.NUMBERS, estimate=_add_n_flops(), inplace=(0,), small=_small_sum)
def add_n(*inputs: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """The sum of tensors of one shape, eight at a time: see `sum_blocks`.

    inputs: any shape, numbers.  Raises: InvalidArgument when the shapes differ.  Source: TensorFlow op `AddN`.
    """
    first = inputs[0]
    for k, x in enumerate(inputs):
        if x.shape != first.shape:
            raise InvalidArgument(
                "Inputs to operation AddN of type AddN must have the same size and shape.  "
                f"Input 0: {shape_text(first.shape)} != input {k}: {shape_text(x.shape)}"
            )
    return run_tiled(widened(_add_all), np.empty(first.shape, first.dtype) if out is None else out, *inputs)


MOST_IN_ORDER = 9
"""The most terms that are one block of `sum_blocks`."""


def sum_blocks(n: int) -> list[range]:
    """Blocks of n terms: those of a block are added to each other before their sum is added to that of all before them.

    The first block has two to nine terms, every other eight. So n terms round n / 8 times on the way to a large sum, not n times.
    Source: TensorFlow's core/kernels/aggregate_ops.cc, bit by bit.
    """
    first = min(n, (n - 2) % 8 + 2)
    return [range(first), *(range(start, start + 8) for start in range(first, n, 8))]


def _add_all(out: np.ndarray, *terms: np.ndarray) -> None:
    if len(terms) == 1:
        np.copyto(out, terms[0])
        return
    first, *others = sum_blocks(len(terms))
    _add_in_order(*terms[: first.stop], out=out)
    part = scratch("sum of eight", out.shape, out.dtype) if others else out
    for block in others:
        _add_in_order(*terms[block.start : block.stop], out=part)
        np.add(out, part, out=out)


def _add_in_order(first: np.ndarray, second: np.ndarray, *others: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """The sum of two terms and more, each added to that of those before it.  out: may be the first."""
    total: np.ndarray = np.add(first, second, out=out)
    for term in others:
        np.add(total, term, out=total)
    return total
