"""Sums, means, products and extremes of rows that share a segment number."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.cost.work import per_input_element
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.shapes import constant_ints
from npu_runtime.kernels.threads import row_indexing
from npu_runtime.kernels.variable_access import shape_text

Array = np.ndarray
BY_SEGMENT = {"T": dt.NUMBERS, "Tindices": dt.INDICES}


def _lowest(dtype: np.dtype) -> Any:
    return _limits(dtype).min


def _highest(dtype: np.dtype) -> Any:
    return _limits(dtype).max


def _limits(dtype: np.dtype) -> Any:
    if dtype.kind in "iu":
        return np.iinfo(dtype)
    return ml_dtypes.finfo(dtype)


UNSORTED: dict[str, tuple[np.ufunc, Callable[[np.dtype], Any]]] = {
    "Sum": (np.add, lambda dtype: 0),
    "Prod": (np.multiply, lambda dtype: 1),
    "Max": (np.maximum, _lowest),
    "Min": (np.minimum, _highest),
}
"""Operation and the value of a segment without rows."""


def _unsorted_shape(data: Spec, segment_ids: Spec, num_segments: Spec, /, **attrs: Any) -> Shape:
    if data.shape is None or segment_ids.shape is None:
        return None
    count = constant_ints(num_segments)
    return (count[0] if count else None, *data.shape[len(segment_ids.shape) :])


def _register_unsorted(name: str, operation: np.ufunc, empty: Callable[[np.dtype], Any]) -> None:
    def unsorted(data: Array, segment_ids: Array, num_segments: Array, /, *, out: Array | None = None) -> Array:
        count = _checked_unsorted(data, segment_ids, num_segments)
        shape = (count, *data.shape[segment_ids.ndim :])
        made = np.empty(shape, data.dtype) if out is None else out
        made[...] = empty(data.dtype)
        numbers = segment_ids.reshape(-1)
        inner = math.prod(shape[1:])
        if data.size and count:
            given, is_kept = data.reshape(-1, inner), numbers >= 0
            if not is_kept.all():
                numbers, given = numbers[is_kept], given[is_kept]
            target = made.reshape(count, inner)
            row_indexing.combine(operation, target, numbers, given)
            if name in ("Min", "Max") and data.dtype.kind not in "iu" and np.isnan(made).any():
                target[...] = empty(data.dtype)
                row_indexing.combine(operation, target, numbers, _behind_nan(numbers, given, count, empty(data.dtype)))
        return made

    unsorted.__doc__ = f"""{name} of the rows of each segment; rows with a negative number are left out.

    Of Min and Max, a NaN goes when another row of its segment follows: TensorFlow keeps what is there only if it is the extreme.

    data: segment_ids.shape + (...).  Returns: (num_segments, ...).
    Raises: InvalidArgument for a number outside the segments.  Source: TensorFlow op `UnsortedSegment{name}`.
    """
    index_types = dt.INDICES | ({"int16"} if name == "Sum" else set())
    kernel(f"UnsortedSegment{name}", unit="vector", shape=_unsorted_shape, estimate=per_input_element(1),
           dtypes={"T": dt.NUMBERS, "Tindices": index_types, "Tnumsegments": dt.INDICES})(unsorted)  # fmt: skip


def _behind_nan(numbers: Array, given: Array, count: int, empty: Any) -> Array:
    """The rows (n, inner), each NaN that is not the last of its segment, and all before it, as the value of no row."""
    place = np.arange(len(numbers))
    last, last_nan = np.full(count, -1), np.full((count, given.shape[1]), -1)
    np.maximum.at(last, numbers, place)
    np.maximum.at(last_nan, numbers, np.where(np.isnan(given), place[:, None], -1))
    is_gone = (place[:, None] <= last_nan[numbers]) & (place != last[numbers])[:, None]
    return np.where(is_gone, np.asarray(empty, given.dtype), given)


def _checked_unsorted(data: Array, segment_ids: Array, num_segments: Array) -> int:
    if num_segments.ndim:
        raise InvalidArgument(f"num_segments should be a scalar, not shape {shape_text(num_segments.shape)}")
    if data.shape[: segment_ids.ndim] != segment_ids.shape:
        shapes = f"{shape_text(data.shape)} does not start with segment_ids.shape = {shape_text(segment_ids.shape)}"
        raise InvalidArgument(f"data.shape = {shapes}")
    count = int(num_segments)
    if count < 0:
        raise InvalidArgument(f"Input num_segments == {count} must not be negative.")
    if data.size and segment_ids.max() >= count:
        place = int(np.flatnonzero(segment_ids.reshape(-1) >= count)[0])
        where = f"segment_ids{row_indexing.position_text(segment_ids.shape, place)} = {segment_ids.reshape(-1)[place]}"
        raise InvalidArgument(f"{where} is out of range [0, {count})")
    return count


def _sorted_shape(data: Spec, *others: Spec, **attrs: Any) -> Shape:
    return None if data.shape is None else (None, *data.shape[1:])


def check_sorted(segment_ids: Array, n_segments: int) -> None:
    """Raises: InvalidArgument when numbers fall or are outside the segments."""
    if segment_ids.size == 0:
        return
    falls = np.flatnonzero(segment_ids[1:] < segment_ids[:-1])
    before_fall = segment_ids[: falls[0] + 1] if falls.size else segment_ids
    wrong = before_fall[(before_fall < 0) | (before_fall >= n_segments)]
    if wrong.size and not (falls.size and falls[0] == 0):
        outside = f"Segment id {wrong[0]} out of range [0, {n_segments})"
        raise InvalidArgument(f"{outside}, possibly because 'segment_ids' input is not sorted.")
    if falls.size:
        raise InvalidArgument("segment ids are not increasing")


def _checked_sorted(data: Array, segment_ids: Array) -> int:
    if segment_ids.ndim != 1:
        raise InvalidArgument("segment_ids should be a vector.")
    if data.ndim == 0 or data.shape[0] != segment_ids.size:
        raise InvalidArgument("segment_ids should be the same size as dimension 0 of input.")
    if segment_ids.size == 0:
        return 0
    if segment_ids[-1] < 0:
        raise InvalidArgument("segment ids must be >= 0")
    check_sorted(segment_ids, int(segment_ids[-1]) + 1)
    return int(segment_ids[-1]) + 1


def _divide(target: Array, named: Array, counts: Array) -> None:
    """Sums to means, whole numbers cut off toward zero."""
    shares = target[named] / counts[named, None]
    target[named] = shares if target.dtype.kind not in "iu" else np.trunc(shares)


def _neutral(name: str, dtype: np.dtype) -> Any:
    """The neutral element: of the extremes of floats an infinity, where the unsorted ops begin with the largest number."""
    is_extreme = name in ("Min", "Max") and dtype.kind not in "iu"
    return {"Min": np.inf, "Max": -np.inf}[name] if is_extreme else UNSORTED[name][1](dtype)


def _register_sorted(name: str, operation: np.ufunc, empty: int, dtypes: frozenset[str]) -> None:
    def segment(data: Array, segment_ids: Array, /) -> Array:
        count = _checked_sorted(data, segment_ids)
        made = np.full((count, *data.shape[1:]), empty, data.dtype)
        inner = math.prod(data.shape[1:])
        if made.size == 0:
            return made
        target, named = made.reshape(count, inner), segment_ids[np.append(True, segment_ids[1:] != segment_ids[:-1])]
        if name in ("Prod", "Min", "Max"):  # the first row of a segment replaces the value of an empty one
            target[named] = _neutral(name, data.dtype)
        row_indexing.combine(operation, target, segment_ids, data.reshape(-1, inner))
        if name == "Mean":
            counts = np.bincount(segment_ids, minlength=count).astype(data.dtype)
            _divide(target, named, counts)
        return made

    segment.__doc__ = f"""{name} of the rows of each segment; numbers must not fall.

    data: (n, ...).  segment_ids: (n,).  Returns: (last number + 1, ...), {empty} for a segment without rows.
    A NaN makes its segment NaN; TensorFlow's Min and Max lose it or not by the column's place in the machine's vectors.
    Raises: InvalidArgument for numbers that fall.  Source: TensorFlow op `Segment{name}`.
    """
    kernel(f"Segment{name}", unit="vector", shape=_sorted_shape, estimate=per_input_element(1),
           dtypes={**BY_SEGMENT, "T": dtypes})(segment)  # fmt: skip


for _name, (_operation, _empty) in UNSORTED.items():
    _register_unsorted(_name, _operation, _empty)
    _register_sorted(_name, _operation, 1 if _name == "Prod" else 0, dt.NUMBERS)
_register_sorted("Mean", np.add, 0, dt.NUMBERS)


SPARSE = {"T": dt.FLOATS, "Tidx": dt.INDICES, "Tsegmentids": dt.INDICES}
DIVISORS: dict[str, Callable[[Array], Array]] = {
    "Sum": np.ones_like,
    "Mean": lambda counts: np.maximum(counts, 1),
    "SqrtN": lambda counts: np.sqrt(np.maximum(counts, 1)),
}
"""Divisor of a segment's sum, from its number of rows."""


def _register_sparse(name: str) -> None:
    def summed(data: Array, indices: Array, segment_ids: Array, num_segments: Array | None) -> Array:
        count = _checked_sparse(data, indices, segment_ids, num_segments)
        inner = math.prod(data.shape[1:])
        shape = (count, *data.shape[1:])
        if count * inner == 0 or indices.size == 0:
            return np.zeros(shape, data.dtype)
        wide = np.dtype(np.float32) if data.dtype.kind not in "iu" else data.dtype
        sums = np.zeros((count, inner), wide)
        row_indexing.combine_picked(np.add, sums, segment_ids, np.ascontiguousarray(data, wide).reshape(-1, inner), indices)
        if name != "Sum":
            counts = np.bincount(segment_ids, minlength=count).astype(np.float32)
            sums /= DIVISORS[name](counts)[:, None]
        return sums.astype(data.dtype, copy=False).reshape(shape)

    def plain(data: Array, indices: Array, segment_ids: Array, /) -> Array:
        return summed(data, indices, segment_ids, None)

    def counted(data: Array, indices: Array, segment_ids: Array, num_segments: Array, /) -> Array:
        return summed(data, indices, segment_ids, num_segments)

    plain.__doc__ = f"""{name} of the rows data[indices] of each segment; numbers must not fall.

    Raises: InvalidArgument for an index or a segment number outside its range.
    Source: TensorFlow op `SparseSegment{name}`; 16-bit floats are added up in fp32, as there.
    """
    fixed: dict[str, Any] = {"unit": "vector", "ignores": ("sparse_gradient",), "estimate": per_input_element(1)}
    types = {**SPARSE, "T": dt.NUMBERS} if name == "Sum" else SPARSE
    kernel(f"SparseSegment{name}", shape=_sorted_shape, dtypes=types, **fixed)(plain)
    kernel(f"SparseSegment{name}WithNumSegments", shape=_counted_shape, dtypes={**types, "Tnumsegments": dt.INDICES},
           ranks={"num_segments": 0}, **fixed)(counted)  # fmt: skip


def _counted_shape(data: Spec, indices: Spec, segment_ids: Spec, count: Spec, /, **attrs: Any) -> Shape:
    known = constant_ints(count)
    return None if data.shape is None else (known[0] if known else None, *data.shape[1:])


def _checked_sparse(data: Array, indices: Array, segment_ids: Array, num_segments: Array | None) -> int:
    _check_vectors(indices, segment_ids)
    last = int(segment_ids[-1]) + 1 if segment_ids.size else 0
    count = last if num_segments is None else int(num_segments)
    if count < last:
        raise InvalidArgument("segment ids must be < num_segments")
    if count < 0 or (segment_ids.size and last <= 0):
        raise InvalidArgument("segment ids must be >= 0")
    check_sorted(segment_ids, count)
    wrong = np.flatnonzero((indices < 0) | (indices >= data.shape[0]))
    if wrong.size:
        raise InvalidArgument(f"Bad: indices[{wrong[0]}] == {indices[wrong[0]]} out of range [0, {data.shape[0]})")
    return count


def _check_vectors(indices: Array, segment_ids: Array) -> None:
    for name, vector in (("indices", indices), ("segment_ids", segment_ids)):
        if vector.ndim != 1:
            raise InvalidArgument(f"{name} should be a vector.")
    if indices.size != segment_ids.size:
        raise InvalidArgument("segment_ids and indices should have same size.")


def entry_weights(name: str, segment_ids: np.ndarray, grad: np.ndarray) -> np.ndarray:
    """The factor of each entry's row of its segment's gradient: (n,) of the gradient's type."""
    scale = 1.0 / DIVISORS[name](np.bincount(segment_ids, minlength=grad.shape[0]).astype(np.float64))
    return scale.astype(grad.dtype)[segment_ids]


def _register_gradient(name: str) -> None:
    def gradient(grad: Array, indices: Array, segment_ids: Array, output_dim0: Array, /, *, out: Array | None = None) -> Array:
        _check_vectors(indices, segment_ids)
        count, inner = int(output_dim0), math.prod(grad.shape[1:])
        made = np.empty((count, *grad.shape[1:]), grad.dtype) if out is None else out
        made[...] = 0
        if made.size == 0 or indices.size == 0:
            return made
        _check_gradient(grad, indices, segment_ids, count)
        weights = entry_weights(name, segment_ids, grad)
        row_indexing.combine_picked(np.add, made.reshape(count, inner), indices, grad.reshape(-1, inner), segment_ids, weights)
        return made

    gradient.__doc__ = f"""Gradient of SparseSegment{name} for its data: (output_dim0, ...).

    Raises: InvalidArgument for an index or a segment number outside its range.
    Source: TensorFlow op `SparseSegment{name}Grad`.
    """
    kernel(f"SparseSegment{name}Grad", unit="vector", shape=_gradient_shape, dtypes=SPARSE,
           estimate=per_input_element(2), ranks={"output_dim0": 0})(gradient)  # fmt: skip


def _gradient_shape(grad: Spec, indices: Spec, segment_ids: Spec, output_dim0: Spec, /, **attrs: Any) -> Shape:
    return _counted_shape(grad, indices, segment_ids, output_dim0)


def _check_gradient(grad: Array, indices: Array, segment_ids: Array, count: int) -> None:
    if segment_ids[-1] + 1 > grad.shape[0]:
        raise InvalidArgument("Invalid number of segments")
    for text, numbers, limit in (("Segment id", segment_ids, grad.shape[0]), ("Index", indices, count)):
        wrong = numbers[(numbers < 0) | (numbers >= limit)]
        if wrong.size:
            raise InvalidArgument(f"{text} {wrong[0]} out of range [0, {limit}).")


for _name in DIVISORS:
    _register_sparse(_name)
    _register_gradient(_name)
