"""Sets of numbers, one a row, as sparse tensors whose last axis counts the members."""

from __future__ import annotations

from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.sparse.sparse import validated_places
from npu_runtime.kernels.sparse.sparse_tensors import require_extents
from npu_runtime.kernels.threads.row_indexing import linear
from npu_runtime.kernels.variable_access import shape_text

Array = np.ndarray
Sparse = tuple[Array, Array, Array]
MEMBERS = {"T": dt.INTEGERS}
KEPT = {
    "a-b": lambda in_a, in_b: in_a & ~in_b,
    "b-a": lambda in_a, in_b: in_b & ~in_a,
    "intersection": lambda in_a, in_b: in_a & in_b,
    "union": lambda in_a, in_b: in_a | in_b,
}


def _of_dense(x: Array) -> tuple[Array, Array, tuple[int, ...]]:
    """(row of every member, members, shape without the last axis)."""
    if x.ndim < 2:
        raise InvalidArgument(f"Invalid input rank {x.ndim}, sets need at least 2 axes: {shape_text(x.shape)}")
    groups = x.shape[:-1]
    return np.repeat(np.arange(int(np.prod(groups))), x.shape[-1]), x.reshape(-1), groups


def _of_sparse(indices: Array, values: Array, shape: Array) -> tuple[Array, Array, tuple[int, ...]]:
    require_extents(indices, shape=shape)
    if len(shape) < 2:
        raise InvalidArgument(f"Invalid input rank {len(shape)}, sets need at least 2 axes: {shape_text(shape)}")
    extents = tuple(int(n) for n in shape)
    validated_places(indices, extents)
    return linear(indices[:, :-1], extents[:-1])[0], values, extents[:-1]


def _combined(a: tuple[Array, Array, tuple[int, ...]], b: tuple[Array, Array, tuple[int, ...]], operation: str) -> Sparse:
    """Members in rising order, each once.  Source: TensorFlow core/kernels/set_kernels.cc."""
    if a[2] != b[2]:
        raise InvalidArgument(f"Mismatched group shapes {shape_text(a[2])} vs {shape_text(b[2])}.")
    pairs = [np.stack([rows, members.astype(np.int64)], axis=1) for rows, members, _ in (a, b)]
    every, places = np.unique(np.concatenate(pairs), axis=0, return_inverse=True)
    places = places.reshape(-1)
    has = [np.isin(np.arange(len(every)), part) for part in (places[: len(pairs[0])], places[len(pairs[0]) :])]
    chosen = every[KEPT[operation](*has)]
    rows, members = chosen[:, 0], chosen[:, 1].astype(a[1].dtype)
    counts = np.bincount(rows, minlength=int(np.prod(a[2])))
    position = np.arange(len(rows)) - (np.cumsum(counts) - counts)[rows]
    coordinates = np.stack([*np.unravel_index(rows, a[2]), position], axis=1).astype(np.int64)
    return coordinates, members, np.array([*a[2], counts.max(initial=0)], np.int64)


def _result_shape(*specs: Spec, **attrs: Any) -> list[Shape]:
    return [(None, None), (None,), (None,)]


def _refuse(specs: Any, attrs: dict[str, Any]) -> str | None:
    """An operation that TensorFlow does not know either, or coordinates of which its loops alone say what becomes."""
    if not attrs.get("validate_indices", True):
        return "coordinates that are not validated"
    return None if str(attrs.get("set_operation", "union")) in KEPT else f"set_operation {attrs['set_operation']}"


_FIXED: dict[str, Any] = {
    "unit": "vector", "shape": _result_shape, "dtypes": MEMBERS, "ignores": ["validate_indices"], "refuse": _refuse,
}  # fmt: skip


@kernel("DenseToDenseSetOperation", **_FIXED)
def dense_to_dense(set1: Array, set2: Array, /, *, set_operation: str) -> Sparse:
    """Difference, intersection or union of the rows of two tensors.

    set1: (..., m).  set2: (..., n).  Returns: coordinates, members, shape.  Raises: InvalidArgument when rows do not pair.
    Source: TensorFlow op `DenseToDenseSetOperation`.
    """
    return _combined(_of_dense(set1), _of_dense(set2), str(set_operation))


@kernel("DenseToSparseSetOperation", **_FIXED)
def dense_to_sparse(set1: Array, indices: Array, values: Array, shape: Array, /, *, set_operation: str) -> Sparse:
    """The set operation of a dense operand and a sparse one.  Source: TensorFlow op `DenseToSparseSetOperation`."""
    return _combined(_of_dense(set1), _of_sparse(indices, values, shape), str(set_operation))


@kernel("SparseToSparseSetOperation", **_FIXED)
def sparse_to_sparse(
    indices1: Array, values1: Array, shape1: Array, indices2: Array, values2: Array, shape2: Array, /, *, set_operation: str
) -> Sparse:
    """The set operation of two sparse operands.  Source: TensorFlow op `SparseToSparseSetOperation`."""
    return _combined(_of_sparse(indices1, values1, shape1), _of_sparse(indices2, values2, shape2), str(set_operation))


def _size_shape(indices: Spec, values: Spec, shape: Spec, /, **attrs: Any) -> Shape:
    return None if not shape.shape or shape.shape[0] is None else (None,) * (shape.shape[0] - 1)


@kernel("SetSize", unit="vector", shape=_size_shape, dtypes=MEMBERS, ignores=["validate_indices"], refuse=_refuse)
def set_size(indices: Array, values: Array, shape: Array, /) -> Array:
    """Number of different members of each row: (...) int32.  Source: TensorFlow op `SetSize`."""
    rows, members, groups = _of_sparse(indices, values, shape)
    different = np.unique(np.stack([rows, members.astype(np.int64)], axis=1), axis=0)[:, 0]
    return np.bincount(different, minlength=int(np.prod(groups))).astype(np.int32).reshape(groups)
