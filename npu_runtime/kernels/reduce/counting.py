"""Counting: how often a number is there, which bin a value is in."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.cost.work import per_input_element
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.shapes import constant_ints, same_as
from npu_runtime.kernels.variable_access import shape_text

Array = np.ndarray
COUNTED = frozenset({"int32", "int64", "float32"})


def _size_shape(arr: Spec, size: Spec, /, *others: Spec, **attrs: Any) -> Shape:
    known = constant_ints(size)
    return (known[0] if known else None,)


@kernel("Bincount", unit="vector", shape=_size_shape, dtypes={"T": COUNTED}, estimate=per_input_element(1))
def bincount(arr: Array, size: Array, weights: Array, /) -> Array:
    """Number of occurrences in arr of each number below size, or the sum of its weights: (size,) of the weights' dtype.

    weights: as many as arr has, or none, which means 1 each. Numbers of size and more are left out.
    Raises: InvalidArgument for a negative number.  Source: TensorFlow op `Bincount`.
    """
    count = _checked_size(size)
    if arr.size and arr.min() < 0:
        raise InvalidArgument("Input arr must be non-negative!")
    if weights.size and weights.size != arr.size:
        shapes = f"Received {shape_text(arr.shape)} and {shape_text(weights.shape)}"
        raise InvalidArgument(f"Input indices and weights must have the same size. {shapes}")
    return _count(arr.reshape(-1), count, weights.reshape(-1), weights.dtype)


def _checked_size(size: Array) -> int:
    if size.ndim:
        raise InvalidArgument(f"Shape must be rank 0 but is rank {size.ndim}")
    if size < 0:
        raise InvalidArgument(f"size ({int(size)}) must be non-negative")
    return int(size)


def _count(numbers: Array, size: int, weights: Array, dtype: np.dtype) -> Array:
    """Numbers, none negative, counted or their weights added up."""
    is_inside = numbers < size
    given = weights[is_inside] if weights.size else None
    return np.bincount(numbers[is_inside], given, minlength=size).astype(dtype)


def _rows_and_size(input: Spec, size: Spec, /, *others: Spec, **attrs: Any) -> Shape:
    known = constant_ints(size)
    return None if input.shape is None else (*input.shape[:-1], known[0] if known else None)


@kernel("DenseBincount", unit="vector", shape=_rows_and_size, dtypes={"T": COUNTED, "Tidx": dt.INDICES},
        estimate=per_input_element(1))  # fmt: skip
def dense_bincount(input: Array, size: Array, weights: Array, /, *, binary_output: bool = False) -> Array:
    """As Bincount, of a vector or of each row of a matrix; binary_output says only whether a number is there.

    Source: TensorFlow op `DenseBincount`.
    """
    if input.ndim not in (1, 2):
        raise InvalidArgument(f"Shape must be at most rank 2 but is rank {input.ndim}")
    count = _checked_size(size)
    if input.size and input.min() < 0:
        raise InvalidArgument("Input arr must be non-negative!")
    if weights.size and weights.shape != input.shape:
        raise InvalidArgument(
            "`weights` must be the same shape as `arr` or a length-0 `Tensor`, in which case it acts as all weights equal to 1. "
            f"Received {shape_text(weights.shape)}"
        )
    rows = input.reshape(-1, input.shape[-1]).astype(np.int64)
    is_inside = rows < count
    numbers = np.where(is_inside, rows + np.arange(rows.shape[0])[:, None] * count, rows.shape[0] * count).reshape(-1)
    weights = np.zeros(0, weights.dtype) if binary_output else weights.reshape(-1)
    made = _count(numbers, rows.shape[0] * count, weights, weights.dtype)
    made = np.minimum(made, made.dtype.type(1)) if binary_output else made
    return made.reshape(*input.shape[:-1], count)


def _bins_shape(values: Spec, value_range: Spec, nbins: Spec, /, **attrs: Any) -> Shape:
    known = constant_ints(nbins)
    return (known[0] if known else None,)


@kernel("HistogramFixedWidth", unit="vector", shape=_bins_shape, dtypes={"T": COUNTED, "dtype": dt.INDICES},
        estimate=per_input_element(3),
        ranks={"nbins": 0})  # fmt: skip
def histogram_fixed_width(values: Array, value_range: Array, nbins: Array, /, *, dtype: str = "int32") -> Array:
    """Number of values in each of nbins equal parts of the range. A value outside counts in the first or last.

    Raises: InvalidArgument for an empty range, no bins or a NaN.  Source: TensorFlow op `HistogramFixedWidth`.
    """
    count = int(nbins)
    if value_range.shape != (2,):
        raise InvalidArgument(f"value_range should be a vector of 2 elements, but got shape {shape_text(value_range.shape)}")
    low, high = value_range
    if not low < high:
        got = f"'[{low:g}, {high:g}]'"
        raise InvalidArgument(f"value_range should satisfy value_range[0] < value_range[1], but got {got}")
    if count <= 0:
        raise InvalidArgument(f"nbins should be a positive number, but got '{count}'")
    width = float(high - low) / count
    if values.dtype.kind == "f" and np.isnan(values).any():
        raise InvalidArgument("Histogram values must not contain NaN")
    bins = np.minimum((np.maximum(values, low) - low).astype(np.float64) / width, count - 1).astype(np.int64)
    return np.bincount(bins.reshape(-1), minlength=count).astype(dt.to_numpy(dtype))


@kernel("Bucketize", unit="vector", shape=same_as(0), dtypes=COUNTED, estimate=per_input_element(5))
def bucketize(input: Array, /, *, boundaries: Sequence[float]) -> Array:
    """Number of the rising boundaries that are not above each value: int32.  Source: TensorFlow op `Bucketize`."""
    if any(b < a for a, b in itertools.pairwise(boundaries)):
        raise InvalidArgument("Expected sorted boundaries")
    return np.searchsorted(np.array(boundaries, np.float32), input.astype(np.float32), side="right").astype(np.int32)
