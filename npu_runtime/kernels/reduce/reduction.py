"""Reductions over axes; 16-bit floats are accumulated in fp32.

Source: TensorFlow's core/kernels/reduction_ops_common.h (axes, empty axes), and Eigen's reducers for NaN, integers and
inputs without elements.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.cost.work import Estimate, n_elements
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.shapes import constant_ints, normalize_axes, scalar
from npu_runtime.kernels.threads.blocked_reduction import fold
from npu_runtime.kernels.threads.tiling import NARROW, to_float32
from npu_runtime.kernels.variable_access import shape_text

TYPES = {"T": dt.NUMBERS, "Tidx": dt.INDICES}
SMALL = 2048
"""Elements up to which one call of numpy is as accurate as sums in blocks, and faster."""
FEW_LINES, SOME = 256, 1 << 13
"""The same for few lines of the last axis, each of which costs numpy's call some nanoseconds: lines, elements of all."""
MIDDLING, LONG_LINE, MOST_IN_ORDER = 1 << 15, 64, 512
"""The same for long lines, where numpy's call is still faster: elements, those of a line, and the most that are added one
after the other; numpy adds those of a line in pairs."""
L2_PIECE = 1 << 14
"""Elements whose squares one product adds up."""
BOOL_TYPES = {"Tidx": dt.INDICES}


def reduced_shape(x: Spec, axes: Spec, *, keep_dims: bool = False) -> Shape:
    """Extents without the reduced axes, or with 1 in their place."""
    chosen = constant_ints(axes)
    if x.shape is None:
        return None
    if chosen is None:
        return (None,) * len(x.shape) if keep_dims else None
    gone = normalize_axes(chosen, len(x.shape))
    if keep_dims:
        return tuple(1 if a in gone else n for a, n in enumerate(x.shape))
    return tuple(n for a, n in enumerate(x.shape) if a not in gone)


def reduction_flops(finalize: int) -> Estimate:
    """One operation an element but the first, `finalize` for each result: as TensorFlow's profiler counts."""
    return lambda inputs, outputs, attrs: max(0, n_elements(inputs[0]) + (finalize - 1) * n_elements(outputs[0]))


@lru_cache(maxsize=4096)
def _reduced(shape: tuple[int, ...], axes: tuple[int, ...], keep_dims: bool) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The axes from the front, in order, and the shape without them.

    Raises: InvalidArgument for an axis outside the rank or named twice.
    """
    chosen = normalize_axes(axes, len(shape))
    if len(chosen) != len(axes):
        twice = next(a for k, a in enumerate(axes) if a % len(shape) in [b % len(shape) for b in axes[:k]])
        raise InvalidArgument(f"Invalid reduction arguments: Axes contains duplicate dimension: {twice}")
    if keep_dims:
        return chosen, tuple(1 if a in chosen else n for a, n in enumerate(shape))
    return chosen, tuple(n for a, n in enumerate(shape) if a not in chosen)


def _reduce(ufunc: np.ufunc, x: np.ndarray, axes: np.ndarray, keep_dims: bool, out: np.ndarray | None) -> np.ndarray:
    """The ufunc over some axes, one run of neighbouring axes after the other, from the last."""
    chosen, shape = _reduced(x.shape, tuple(axes.reshape(-1).tolist()), keep_dims)
    made = np.empty(shape, x.dtype) if out is None else out
    if not chosen and x.dtype == made.dtype:
        np.copyto(made, x)
        return made
    if x.dtype not in NARROW and _is_one_call(x.shape, chosen):
        ufunc.reduce(x, axis=chosen, out=made, dtype=x.dtype, keepdims=keep_dims)
        return made
    values = to_float32(x) if x.dtype in NARROW else x
    for first, last in reversed(_runs(chosen, x.shape)):
        values = _over_run(ufunc, values, first, last)
    np.copyto(made, values.reshape(shape), casting="unsafe")
    return made


@lru_cache(maxsize=4096)
def _is_one_call(shape: tuple[int, ...], axes: tuple[int, ...]) -> bool:
    """Whether one call of numpy is as accurate as sums in blocks, and faster.  axes: from the front, in order."""
    size = math.prod(shape)
    if size <= SMALL:
        return size > 0
    in_order = math.prod(shape[axis] for axis in axes if axis != len(shape) - 1)
    are_few = size <= SOME and size <= FEW_LINES * shape[-1]
    return in_order <= MOST_IN_ORDER and (are_few or (size <= MIDDLING and shape[-1] >= LONG_LINE))


def _runs(axes: tuple[int, ...], shape: tuple[int, ...]) -> list[tuple[int, int]]:
    """Neighbouring axes as (first, after last); an axis of extent 1 between two joins them."""
    runs: list[tuple[int, int]] = []
    for axis in axes:
        if runs and all(n == 1 for n in shape[runs[-1][1] : axis]):
            runs[-1] = (runs[-1][0], axis + 1)
        else:
            runs.append((axis, axis + 1))
    return runs


def _over_run(ufunc: np.ufunc, x: np.ndarray, first: int, last: int) -> np.ndarray:
    """x with the axes [first, last) reduced to extent 1 in all."""
    before, reduced, after = (math.prod(part) for part in (x.shape[:first], x.shape[first:last], x.shape[last:]))
    result = np.empty((before, after), x.dtype)
    if reduced or ufunc.identity is not None:
        fold(ufunc, x.reshape(before, reduced, after), result)
    else:
        result.fill(_of_nothing(ufunc, x.dtype))
    return result.reshape(*x.shape[:first], *(1,) * (last - first), *x.shape[last:])


def _of_nothing(ufunc: np.ufunc, dtype: np.dtype) -> float | int:
    """The maximum of no elements is the smallest value of the type, the minimum the largest."""
    if dtype.kind == "f":
        return -np.inf if ufunc is np.maximum else np.inf
    limits = np.iinfo(dtype)
    return limits.min if ufunc is np.maximum else limits.max


def _small(
    ufunc: np.ufunc, is_mean: bool, inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: Mapping[str, Any], is_planned: bool
) -> Callable[..., Any] | None:
    """See `base.Small`: one call of numpy over axes that are known."""
    x, axes = inputs
    known, keep_dims = x.known_shape(), attrs.get("keep_dims", False)
    if axes.value is None or x.dtype != "float32":
        return None
    chosen, shape = _reduced(known, tuple(axes.value.reshape(-1).tolist()), keep_dims)
    if not chosen or not _is_one_call(known, chosen):
        return None
    count = np.array(math.prod(known) / math.prod(shape), np.float32)

    def run(x: np.ndarray, axes: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        if x.shape != known:  # a ref variable may have been given another shape
            made = mean_of(x, axes, keep_dims=keep_dims, out=out) if is_mean else _reduce(ufunc, x, axes, keep_dims, out)
            return np.asarray(made)
        made = np.empty(shape, np.float32) if out is None else out
        ufunc.reduce(x, chosen, None, made, keep_dims)
        return np.divide(made, count, made) if is_mean else made

    return run


@kernel(
    "Sum", unit="vector", shape=reduced_shape, dtypes=TYPES, estimate=reduction_flops(0), small=partial(_small, np.add, False)
)
def sum_of(x: np.ndarray, axes: np.ndarray, /, *, keep_dims: bool = False, out: np.ndarray | None = None) -> np.ndarray:
    """The sum over some axes; no axes: x itself.

    axes: int scalar or vector, from the end when negative.  Raises: InvalidArgument for an axis outside the rank.
    Integers wrap around.  Source: TensorFlow op `Sum`.
    """
    return _reduce(np.add, x, axes, keep_dims, out)


@kernel("Prod", unit="vector", shape=reduced_shape, dtypes=TYPES, estimate=reduction_flops(0))
def product_of(x: np.ndarray, axes: np.ndarray, /, *, keep_dims: bool = False, out: np.ndarray | None = None) -> np.ndarray:
    """The product over some axes; see `Sum`. Source: TensorFlow op `Prod`."""
    return _reduce(np.multiply, x, axes, keep_dims, out)


@kernel(
    "Max", unit="vector", shape=reduced_shape, dtypes=TYPES, estimate=reduction_flops(0), small=partial(_small, np.maximum, False)
)
def max_of(x: np.ndarray, axes: np.ndarray, /, *, keep_dims: bool = False, out: np.ndarray | None = None) -> np.ndarray:
    """The maximum over some axes; of nothing the type's smallest value. Source: TensorFlow op `Max`."""
    return _reduce(np.maximum, x, axes, keep_dims, out)


@kernel("Min", unit="vector", shape=reduced_shape, dtypes=TYPES, estimate=reduction_flops(0))
def min_of(x: np.ndarray, axes: np.ndarray, /, *, keep_dims: bool = False, out: np.ndarray | None = None) -> np.ndarray:
    """The minimum over some axes; of nothing the type's largest value. Source: TensorFlow op `Min`."""
    return _reduce(np.minimum, x, axes, keep_dims, out)


@kernel("All", unit="vector", shape=reduced_shape, dtypes=BOOL_TYPES)
def all_of(x: np.ndarray, axes: np.ndarray, /, *, keep_dims: bool = False, out: np.ndarray | None = None) -> np.ndarray:
    """Whether all are true, over some axes. Source: TensorFlow op `All`."""
    return _reduce(np.logical_and, x, axes, keep_dims, out)


@kernel("Any", unit="vector", shape=reduced_shape, dtypes=BOOL_TYPES)
def any_of(x: np.ndarray, axes: np.ndarray, /, *, keep_dims: bool = False, out: np.ndarray | None = None) -> np.ndarray:
    """Whether one is true, over some axes. Source: TensorFlow op `Any`."""
    return _reduce(np.logical_or, x, axes, keep_dims, out)


@kernel(
    "Mean", unit="vector", shape=reduced_shape, dtypes=TYPES, estimate=reduction_flops(1), small=partial(_small, np.add, True)
)
def mean_of(x: np.ndarray, axes: np.ndarray, /, *, keep_dims: bool = False, out: np.ndarray | None = None) -> np.ndarray:
    """The sum over some axes divided by how many there are; of integers summed up in 64 bits, rounded towards zero.

    See `Sum`.  The mean of nothing is NaN.  Source: TensorFlow op `Mean`.
    """
    count = math.prod([x.shape[a] for a in _reduced(x.shape, tuple(axes.reshape(-1).tolist()), keep_dims)[0]])
    is_integer = x.dtype.kind in "iu"
    if is_integer or x.dtype in NARROW:
        total = _reduce(np.add, x.astype(np.int64 if is_integer else np.float32), axes, keep_dims, None)
    else:
        total = _reduce(np.add, x, axes, keep_dims, out)
    made = np.empty(total.shape, x.dtype) if out is None else out
    if is_integer:
        mean = total // max(count, 1)
        mean += (total < 0) & (mean * max(count, 1) != total)
    else:
        mean = np.divide(total, np.float32(count), out=total)
    if mean is not made:
        np.copyto(made, mean, casting="unsafe")
    return made


@kernel("EuclideanNorm", unit="vector", shape=reduced_shape, dtypes=TYPES, estimate=reduction_flops(1))
def euclidean_norm(x: np.ndarray, axes: np.ndarray, /, *, keep_dims: bool = False, out: np.ndarray | None = None) -> np.ndarray:
    """The square root of the sum of squares over some axes. See `Sum`. Source: TensorFlow op `EuclideanNorm`."""
    values = to_float32(x) if x.dtype in NARROW else x
    total = _reduce(np.add, np.square(values), axes, keep_dims, None)
    made = np.empty(total.shape, x.dtype) if out is None else out
    np.copyto(made, np.sqrt(total), casting="unsafe")
    return made


def _arg_shape(x: Spec, dimension: Spec, *, output_type: str = "int64") -> Shape:
    axis = constant_ints(dimension)
    if x.shape is None:
        return None
    if axis is None:
        return (None,) * (len(x.shape) - 1)
    gone = normalize_axes(axis, len(x.shape))
    return tuple(n for a, n in enumerate(x.shape) if a not in gone)


def _without_nan(x: np.ndarray, replacement: float) -> np.ndarray:
    if x.dtype.kind not in "fV":
        return x
    values = x.astype(np.float32, copy=False)
    is_nan = np.isnan(values)
    return np.where(is_nan, np.float32(replacement), values) if is_nan.any() else values


def _position(x: np.ndarray, dimension: np.ndarray, output_type: str, name: str) -> np.ndarray:
    axis = int(dimension.reshape(-1)[0])
    if not -x.ndim <= axis < x.ndim:
        raise InvalidArgument(f"Expected dimension in the range [{-x.ndim}, {x.ndim}), but got {axis}")
    if not x.shape[axis]:
        raise InvalidArgument(f"Reduction axis {axis} is empty in shape {shape_text(x.shape)}")
    found = np.argmax(x, axis=axis) if name == "max" else np.argmin(x, axis=axis)
    return np.asarray(found).astype(dt.to_numpy(output_type), copy=False)


ARG_MAX_TYPES = {"T": dt.ALL, "Tidx": dt.INDICES, "output_type": dt.INDICES | {"int16"}}
ARG_MIN_TYPES = {"T": dt.ALL, "Tidx": dt.INDICES, "output_type": dt.INDICES}


@kernel("ArgMax", unit="vector", shape=_arg_shape, dtypes=ARG_MAX_TYPES, estimate=reduction_flops(0), ranks={"dimension": 0})
def arg_max(x: np.ndarray, dimension: np.ndarray, /, *, output_type: str = "int64") -> np.ndarray:
    """Index of the largest element along one axis: the first of equal ones; NaN is never it.

    Raises: InvalidArgument for an axis without elements.  Source: TensorFlow op `ArgMax`, Eigen's ArgMaxTupleReducer.
    """
    return _position(_without_nan(x, -np.inf), dimension, output_type, "max")


@kernel("ArgMin", unit="vector", shape=_arg_shape, dtypes=ARG_MIN_TYPES, estimate=reduction_flops(0), ranks={"dimension": 0})
def arg_min(x: np.ndarray, dimension: np.ndarray, /, *, output_type: str = "int64") -> np.ndarray:
    """Index of the smallest element along one axis: the first of equal ones; NaN is never it.

    Raises: InvalidArgument for an axis without elements.  Source: TensorFlow op `ArgMin`, Eigen's ArgMinTupleReducer.
    """
    return _position(_without_nan(x, np.inf), dimension, output_type, "min")


def _l2_flops() -> Estimate:
    return lambda inputs, outputs, attrs: 3 * n_elements(inputs[0]) - 1 if n_elements(inputs[0]) else 0


_HALF = np.array(0.5, np.float32)


def _small_loss(
    inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: Mapping[str, Any], is_planned: bool
) -> Callable[..., Any] | None:
    """See `base.Small`: one product of a line with itself."""
    size = math.prod(inputs[0].known_shape())
    if inputs[0].dtype != "float32" or size >= 2 * L2_PIECE:
        return None

    def run(x: np.ndarray) -> np.ndarray:
        flat = x.reshape(-1)
        return np.asarray(np.dot(flat, flat) * _HALF)

    return run


@kernel("L2Loss", unit="vector", shape=scalar, dtypes=dt.FLOATS, estimate=_l2_flops(), small=_small_loss)
def l2_loss(x: np.ndarray, /) -> np.ndarray:
    """Half the sum of squares of all elements; a scalar. Source: TensorFlow op `L2Loss`."""
    flat = np.ascontiguousarray(x, np.float32).reshape(-1)
    n_pieces = max(1, flat.size // L2_PIECE)
    pieces = flat[: flat.size // n_pieces * n_pieces].reshape(n_pieces, 1, -1)
    total = np.add.reduce(np.matmul(pieces, pieces.transpose(0, 2, 1)), axis=None)
    rest = flat[pieces.size :]
    return np.asarray((total + np.dot(rest, rest)) * np.float32(0.5)).astype(x.dtype)
