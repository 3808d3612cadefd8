"""The largest entries of rows, and whether a class is among them."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.cost.work import per_input_element
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.reduce.topk_with_nan import places_with_nan
from npu_runtime.kernels.shapes import constant_ints
from npu_runtime.kernels.variable_access import shape_text

Array = np.ndarray


def _top_shapes(input: Spec, k: Spec, /, **attrs: Any) -> list[Shape]:
    known = constant_ints(k)
    shape = None if not input.shape else (*input.shape[:-1], known[0] if known else None)
    return [shape, shape]


@kernel(
    "TopKV2", unit="vector", shape=_top_shapes, estimate=per_input_element(1),
    dtypes={"T": dt.NUMBERS, "Tk": frozenset({"int16", "int32", "int64"}), "index_type": dt.INDICES | {"int16"}},
)  # fmt: skip
def top_k_v2(input: Array, k: Array, /, *, sorted: bool = True, index_type: str = "int32") -> tuple[Array, Array]:
    """The k largest entries of the last axis, largest first, of equal ones the first first, and where they are.

    Without `sorted` in the order in which TensorFlow's heap holds them, which models may use: each entry meets a row of a batch.
    What TensorFlow makes of a row with NaN depends on how it looks for them (`topk_with_nan`).
    Raises: InvalidArgument when an axis has fewer than k entries.  Source: TensorFlow op `TopKV2`.
    """
    if k.ndim:
        raise InvalidArgument(f"k must be scalar, got shape {shape_text(k.shape)}")
    if k < 0:
        raise InvalidArgument(f"Need k >= 0, got {k}")
    if input.ndim == 0:
        raise InvalidArgument("input must be >= 1-D, got shape []")
    if input.shape[-1] < k:
        raise InvalidArgument(f"input must have at least k columns. Had {input.shape[-1]}, needed {k}")
    places = _largest(as_sortable(input), int(k), sorted)
    return np.take_along_axis(input, places, axis=-1), places.astype(dt.to_numpy(index_type))


def _largest(keys: Array, k: int, is_sorted: bool) -> Array:
    """(..., k) positions of the largest, as TensorFlow orders them."""
    find = _places if is_sorted or k <= 1 or k == keys.shape[-1] else _in_heaps
    if keys.dtype.kind in "iu" or not keys.size or not k:
        return find(keys, k)
    is_nan = np.isnan(np.maximum.reduce(keys, axis=-1)).reshape(-1)
    if not is_nan.any():
        return find(keys, k)
    rows = keys.reshape(len(is_nan), -1)
    found = np.empty((len(rows), k), np.intp)
    found[~is_nan] = find(rows[~is_nan], k)
    found[is_nan] = places_with_nan(rows[is_nan], k, is_sorted)
    return found.reshape(*keys.shape[:-1], k)


def as_sortable(input: Array) -> Array:
    """The same order in a dtype that numpy sorts fast."""
    return input.astype(np.float32) if input.dtype.itemsize == 2 and input.dtype.kind not in "iu" else input


def _places(keys: Array, k: int) -> Array:
    """(..., k) positions of the largest, in order; without NaN."""
    n = keys.shape[-1]
    if k == 1 and keys.size:
        return np.argmax(keys, axis=-1, keepdims=True)
    if 0 < k <= n // 16 and keys.size:
        return _among_candidates(keys.reshape(-1, n), k).reshape(*keys.shape[:-1], k)
    return np.argsort(_falling(keys), axis=-1, kind="stable")[..., :k]


def _in_heaps(keys: Array, k: int) -> Array:
    """(..., k) positions of the largest, as gtl::TopN leaves them (core/lib/gtl/top_n.h); 1 < k < entries of a row."""
    found = [_in_heap(row, k) for row in keys.reshape(-1, keys.shape[-1])]
    return np.array(found, np.intp).reshape(*keys.shape[:-1], k)


def _in_heap(row: Array, k: int) -> list[int]:
    """k + 1 entries become a heap that loses its least; each later entry above the least comes in for it.

    heapq moves entries as libstdc++'s heaps do; entries differ by their places, so that none are equal.
    """
    heap = list(zip(row[: k + 1].tolist(), range(0, -k - 1, -1), strict=True))
    heapify(heap)
    heappop(heap)
    later = k + 1 + np.flatnonzero(row[k + 1 :] > heap[0][0])  # the least only grows
    for value, place in zip(row[later].tolist(), later.tolist(), strict=True):
        if value > heap[0][0]:
            heappop(heap)
            heappush(heap, (value, -place))
    return [-place for _, place in heap]


def _falling(keys: Array) -> Array:
    """Keys whose rising order is the falling order of the given ones; complement instead of minus cannot overflow."""
    return np.invert(keys) if keys.dtype.kind in "iu" else -keys


def _among_candidates(keys: Array, k: int) -> Array:
    """(rows, k) without sorting whole rows.

    The k-th largest of the maxima of 4k groups is a bound that at least k entries reach, and few more.
    """
    n_rows, n = keys.shape
    n_groups = 4 * k
    depth = n // n_groups
    maxima = keys[:, : depth * n_groups].reshape(n_rows, depth, n_groups).max(axis=1)
    bound = np.partition(maxima, n_groups - k, axis=1)[:, n_groups - k, None]
    row, column = np.nonzero(keys >= bound)
    order = np.lexsort((_falling(keys[row, column]), row))
    first = np.searchsorted(row, np.arange(n_rows))
    chosen: Array = column[order][first[:, None] + np.arange(k)]
    return chosen


def _one_a_row(predictions: Spec, targets: Spec, /, *others: Spec, **attrs: Any) -> Shape:
    return targets.shape


@kernel("InTopK", unit="vector", shape=_one_a_row, dtypes=dt.INDICES, estimate=per_input_element(1))
def in_top_k(predictions: Array, targets: Array, /, *, k: int) -> Array:
    """As InTopKV2 with an attribute for k.  Source: TensorFlow op `InTopK`."""
    return _is_among(predictions, targets, k)


@kernel("InTopKV2", unit="vector", shape=_one_a_row, dtypes=dt.INDICES, estimate=per_input_element(1), ranks={"k": 0})
def in_top_k_v2(predictions: Array, targets: Array, k: Array, /) -> Array:
    """Whether fewer than k classes have a larger prediction than the target: (B, C) fp32, (B,) -> (B,) bool.

    False for a target that is no class, and where a prediction of the row is not finite.
    Source: TensorFlow op `InTopKV2`.
    """
    return _is_among(predictions, targets, int(k))


def _is_among(predictions: Array, targets: Array, k: int) -> Array:
    if predictions.ndim != 2 or targets.ndim != 1:
        which = "predictions must be 2-dimensional" if predictions.ndim != 2 else "targets must be 1-dimensional"
        raise InvalidArgument(which)
    if predictions.shape[0] != targets.size:
        both = f"{predictions.shape[0]} must match length of targets {targets.size}"
        raise InvalidArgument(f"First dimension of predictions {both}")
    n_classes = predictions.shape[1]
    if predictions.size == 0:
        return np.zeros(targets.shape, bool)
    is_class = (targets >= 0) & (targets < n_classes)
    own = np.take_along_axis(predictions, np.where(is_class, targets, 0)[:, None], axis=1)
    n_larger = np.count_nonzero(predictions > own, axis=1)
    result: Array = is_class & np.isfinite(predictions).all(axis=1) & (n_larger < k)
    return result


def _without_last(input: Spec, n: Spec, /, **attrs: Any) -> Shape:
    return None if input.shape is None else input.shape[:-1]


@kernel("NthElement", unit="vector", shape=_without_last, dtypes=dt.NUMBERS, estimate=per_input_element(1), ranks={"n": 0})
def nth_element(input: Array, n: Array, /, *, reverse: bool = False) -> Array:
    """The n-th smallest (reverse: largest) entry of the last axis, from 0: (..., N) -> (...).

    Raises: InvalidArgument when n is not in the axis.  Source: TensorFlow op `NthElement`.
    """
    place = int(n)
    if place < 0:
        raise InvalidArgument(f"n must be non-negative, got {place}")
    if input.ndim == 0:
        raise InvalidArgument("input must be at least rank 1, got shape []")
    if input.shape[-1] <= place:
        raise InvalidArgument(f"Input must have last dimension > n = {place}")
    place = input.shape[-1] - 1 - place if reverse else place
    return np.partition(as_sortable(input), place, axis=-1)[..., place].astype(input.dtype)
