"""Sets of values: what is there, where, how often, and what another list lacks."""

from __future__ import annotations

from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.reduce.topk import as_sortable
from npu_runtime.kernels.shapes import constant_ints
from npu_runtime.kernels.threads.row_indexing import first_places
from npu_runtime.kernels.variable_access import shape_text

Array = np.ndarray
FEW = 64
"""Entries of which a dictionary tells the different ones sooner than a table."""
LARGEST_TABLE = 1 << 24
"""Entries of the largest table of all integers between the least and the greatest, 64 MB, that is tried before sorting."""
WITH_INDEX = {"T": dt.ALL, "out_idx": dt.INDICES}


def _flat_shapes(n_outputs: int) -> Any:
    def shapes(x: Spec, /, **attrs: Any) -> list[Shape]:
        length = x.shape[0] if x.shape else None
        made: list[Shape] = [(None,), (length,), (None,)]
        return made[:n_outputs]

    return shapes


def _axis_shapes(n_outputs: int) -> Any:
    def shapes(x: Spec, axis: Spec, /, **attrs: Any) -> list[Shape]:
        known = constant_ints(axis)
        made: list[Shape] = [None, (None,), (None,)]
        if x.shape is not None and known is not None:
            place = known[0] % len(x.shape) if known else 0
            made[:2] = [tuple(None if i == place else n for i, n in enumerate(x.shape)), (x.shape[place],)]
        return made[:n_outputs]

    return shapes


@kernel("Unique", unit="vector", shape=_flat_shapes(2), dtypes=WITH_INDEX)
def unique(x: Array, /, *, out_idx: str = "int32") -> tuple[Array, Array]:
    """The different values in the order of their first appearance, and for each entry which it is.

    Raises: InvalidArgument when x is no vector.  Source: TensorFlow op `Unique`.
    """
    return _unique(_vector(x), 0, out_idx)


@kernel("UniqueWithCounts", unit="vector", shape=_flat_shapes(3), dtypes=WITH_INDEX)
def unique_with_counts(x: Array, /, *, out_idx: str = "int32") -> tuple[Array, Array, Array]:
    """As Unique, and how often each value is there.  Source: TensorFlow op `UniqueWithCounts`."""
    return _with_counts(*_unique(_vector(x), 0, out_idx))


@kernel("UniqueV2", unit="vector", shape=_axis_shapes(2), dtypes={**WITH_INDEX, "Taxis": dt.INDICES}, ranks={"axis": 1})
def unique_v2(x: Array, axis: Array, /, *, out_idx: str = "int32") -> tuple[Array, Array]:
    """As Unique, of the slices along an axis; an empty axis means a vector.  Source: TensorFlow op `UniqueV2`."""
    return _unique(x, _axis_of(x, axis), out_idx)


@kernel("UniqueWithCountsV2", unit="vector", shape=_axis_shapes(3), dtypes={**WITH_INDEX, "Taxis": dt.INDICES}, ranks={"axis": 1})
def unique_with_counts_v2(x: Array, axis: Array, /, *, out_idx: str = "int32") -> tuple[Array, Array, Array]:
    """As UniqueV2, and how often each slice is there.  Source: TensorFlow op `UniqueWithCountsV2`."""
    place = _axis_of(x, axis)
    return _with_counts(*_unique(x, place, out_idx), place)


def _vector(x: Array) -> Array:
    if x.ndim != 1:
        raise InvalidArgument("unique expects a 1D vector.")
    return x


def _axis_of(x: Array, axis: Array) -> int:
    if axis.size == 0:
        _vector(x)
        return 0
    if axis.ndim > 1 or axis.size > 1:
        raise InvalidArgument("axis tensor must be empty or hold one axis")
    place = int(axis.reshape(-1)[0])
    if not -x.ndim <= place < x.ndim:
        raise InvalidArgument(f"axis has to be between [-{x.ndim}, {x.ndim}), got {place} for shape {shape_text(x.shape)}")
    return place % x.ndim


def _with_counts(values: Array, rank: Array, axis: int = 0) -> tuple[Array, Array, Array]:
    return values, rank, np.bincount(rank, minlength=values.shape[axis]).astype(rank.dtype)


def _unique(x: Array, axis: int, out_idx: str) -> tuple[Array, Array]:
    kind = dt.to_numpy(out_idx)
    if x.ndim > 1 and x.size == 0:
        raise InvalidArgument(f"unique along an axis needs entries, got shape {shape_text(x.shape)}")
    if x.ndim == 1 and x.dtype.kind in "iu" and x.size <= FEW:
        ranks: dict[int, int] = {}
        numbers = [ranks.setdefault(value, len(ranks)) for value in x.tolist()]
        return np.array(list(ranks), x.dtype), np.array(numbers, kind)
    if x.ndim == 1 and x.dtype.kind in "iu":
        least, extent = int(x.min()), int(x.max()) - int(x.min()) + 1
        is_dense = extent <= max(8 * x.size, LARGEST_TABLE)
        first, rank = first_places(x.astype(np.int64) - least, extent) if is_dense else _by_sorting(x, None)
    else:
        first, rank = _by_sorting(as_sortable(x), None if x.ndim == 1 else axis)
    return np.take(x, first, axis=axis), rank.astype(kind, copy=False)


def _by_sorting(x: Array, axis: int | None) -> tuple[Array, Array]:
    _, first, inverse = np.unique(x, True, True, axis=axis, equal_nan=False)
    order = np.argsort(first, kind="stable")
    rank = np.empty(order.size, np.int64)
    rank[order] = np.arange(order.size)
    return first[order], rank[inverse.reshape(-1)]


@kernel("ListDiff", unit="vector", shape=lambda x, y, **attrs: [(None,), (None,)],
        dtypes={**WITH_INDEX, "T": dt.NUMBERS})  # fmt: skip
def list_diff(x: Array, y: Array, /, *, out_idx: str = "int32") -> tuple[Array, Array]:
    """The entries of x that y lacks, in order, and where they are.  Source: TensorFlow op `ListDiff`."""
    for name, vector in (("x", x), ("y", y)):
        if vector.ndim != 1:
            raise InvalidArgument(f"{name} should be a 1D vector.")
    kept = np.flatnonzero(~np.isin(as_sortable(x), as_sortable(y)))
    return x[kept], kept.astype(dt.to_numpy(out_idx))


def _same_as_values(sorted_inputs: Spec, values: Spec, /, **attrs: Any) -> Shape:
    return values.shape


BOUNDS = {"T": dt.NUMBERS, "out_type": dt.INDICES}


@kernel("LowerBound", unit="vector", shape=_same_as_values, dtypes=BOUNDS)
def lower_bound(sorted_inputs: Array, values: Array, /, *, out_type: str = "int32") -> Array:
    """Number of entries of the row that are less: (B, N), (B, M) -> (B, M).  Source: TensorFlow op `LowerBound`."""
    return _bound(sorted_inputs, values, out_type, values_first=True)


@kernel("UpperBound", unit="vector", shape=_same_as_values, dtypes=BOUNDS)
def upper_bound(sorted_inputs: Array, values: Array, /, *, out_type: str = "int32") -> Array:
    """Number of entries of the row that are not greater: (B, N), (B, M) -> (B, M).  Source: TensorFlow op `UpperBound`."""
    return _bound(sorted_inputs, values, out_type, values_first=False)


def _bound(sorted_inputs: Array, values: Array, out_type: str, values_first: bool) -> Array:
    """One sort of everything by (row, value, which list): a value's place among all tells its place in its row."""
    for given in (sorted_inputs, values):
        if given.ndim != 2:
            raise InvalidArgument(f"Shape must be rank 2 but is rank {given.ndim}")
    if sorted_inputs.shape[0] != values.shape[0]:
        raise InvalidArgument("Leading dim_size of both tensors must match.")
    (n_rows, n), m = sorted_inputs.shape, values.shape[1]
    both = as_sortable(np.concatenate([sorted_inputs, values], axis=1))
    is_value = np.broadcast_to(np.arange(n + m) >= n, both.shape)
    row = np.repeat(np.arange(n_rows), n + m)
    order = np.lexsort((is_value.reshape(-1) != values_first, both.reshape(-1), row))
    n_before = np.empty(both.size, np.int64)
    n_before[order] = np.cumsum(~is_value.reshape(-1)[order]) - row * n
    return n_before.reshape(both.shape)[:, n:].astype(dt.to_numpy(out_type))
