"""Sparse tensors joined, split, cut and brought into order: coordinates (n, rank) int64, values (n,), shape (rank,)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.array.joining import axis_in
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.shapes import same_as
from npu_runtime.kernels.threads import row_indexing
from npu_runtime.kernels.variable_access import shape_text

Array = np.ndarray
_CONCAT = "Concat dimension must be in range [{low}, {high}), got {axis}"
_SPLIT = "Input axis should be in range [{low}, {high}), got {axis}"
SPARSE = {"indices": 2, "values": 1, "shape": 1}
"""Ranks of a sparse tensor's parts."""


def _rank_of(shape: Spec) -> int | None:
    return shape.shape[0] if shape.shape else None


def places_of(*parts: Array) -> list[Array]:
    """Numbers (n,) of coordinates (n, rank), in their row-major order over all parts, wherever they lie.

    Most of TensorFlow's sparse ops compare coordinates and do not look at the shape.
    """
    every = np.concatenate(parts)
    lowest, highest = every.min(axis=0, initial=0), every.max(axis=0, initial=0)
    extents = [int(n) + 1 for n in highest - lowest]
    if math.prod(extents) < 1 << 62:
        numbers, _ = row_indexing.linear(every - lowest, extents)
    else:
        numbers = np.unique(every, axis=0, return_inverse=True)[1].reshape(-1)
    return np.split(numbers, np.cumsum([len(part) for part in parts])[:-1])


def require_inside(indices: Array, shape: Array) -> Array:
    """The row-major place of every coordinate. Raises: InvalidArgument for one outside."""
    places, wrong = row_indexing.linear(indices, [int(n) for n in shape])
    if wrong >= 0:
        place = ", ".join(map(str, indices[wrong]))
        raise InvalidArgument(f"Sparse index tuple indices[{wrong}, :] = [{place}] is out of bounds")
    return places


def require_rows(indices: Array, values: Array) -> None:
    """Raises: InvalidArgument when there is not one coordinate for each value."""
    if indices.shape[:1] != values.shape[:1]:
        shapes = f"(indices = {shape_text(indices.shape)}, values = {shape_text(values.shape)})"
        raise InvalidArgument(f"indices and values rows (indexing dimension) must match. {shapes}")


def require_extents(indices: Array, **vectors: Array) -> None:
    """Raises: InvalidArgument when a vector has not one entry for each axis of the coordinates."""
    for name, vector in vectors.items():
        if vector.shape != indices.shape[1:]:
            shapes = f"has shape {shape_text(vector.shape)} for indices of shape {shape_text(indices.shape)}"
            raise InvalidArgument(f"Index rank and {name} rank do not match: {name} {shapes}")


def _reordered_shape(indices: Spec, values: Spec, shape: Spec, /) -> list[Shape]:
    return [indices.shape, values.shape]


@kernel("SparseReorder", unit="memory", shape=_reordered_shape, ranks=SPARSE)
def sparse_reorder(indices: Array, values: Array, shape: Array, /) -> tuple[Array, Array]:
    """The entries in row-major order.  Source: TensorFlow op `SparseReorder`."""
    require_rows(indices, values)
    require_extents(indices, shape=shape)
    order = np.argsort(places_of(indices)[0], kind="stable")
    return indices[order], values[order]


def _concat_shape(*specs: Spec, concat_dim: int) -> list[Shape]:
    rank = next((s.shape[1] for s in specs[: len(specs) // 3] if s.shape), None)
    return [(None, rank), (None,), (rank,)]


@kernel("SparseConcat", unit="memory", shape=_concat_shape)
def sparse_concat(*parts: Array, concat_dim: int) -> tuple[Array, Array, Array]:
    """One behind the other along an axis, in row-major order.

    parts: N coordinates, N values, N shapes.  Raises: InvalidArgument when other extents differ.
    Source: TensorFlow op `SparseConcat`.
    """
    n = len(parts) // 3
    coordinates, values, shapes = parts[:n], parts[n : 2 * n], np.stack(parts[2 * n :])
    for indices, of_them in zip(coordinates, values, strict=True):
        require_rows(indices, of_them)
    axis = axis_in(shapes.shape[1], concat_dim, _CONCAT)
    whole = shapes[0].copy()
    for other, shape in enumerate(shapes):
        if (np.delete(shape, axis) != np.delete(whole, axis)).any():
            raise InvalidArgument(f"Input shapes must match: expected {shape_text(whole)} but got {shape_text(shape)} at {other}")
    whole[axis] = shapes[:, axis].sum()
    direction, starts = np.eye(len(whole), dtype=np.int64)[axis], np.cumsum(shapes[:, axis]) - shapes[:, axis]
    moved = [part + direction * start for part, start in zip(coordinates, starts, strict=True)]
    return (*sparse_reorder(np.concatenate(moved), np.concatenate(values), whole), whole)


def _split_shape(split_dim: Spec, indices: Spec, values: Spec, shape: Spec, /, *, num_split: int) -> list[Shape]:
    rank = _rank_of(shape)
    return [(None, rank)] * num_split + [(None,)] * num_split + [(rank,)] * num_split


@kernel("SparseSplit", unit="memory", shape=_split_shape, ranks={**SPARSE, "split_dim": 0})
def sparse_split(split_dim: Array, indices: Array, values: Array, shape: Array, /, *, num_split: int) -> tuple[Array, ...]:
    """num_split parts along an axis, the first ones longer when it does not divide: coordinates, values, shapes of all.

    Source: TensorFlow op `SparseSplit`.
    """
    require_extents(indices, shape=shape)
    axis = axis_in(len(shape), int(split_dim), _SPLIT)
    if not 1 <= num_split <= shape[axis]:
        limit = f"the splitting dimension size ({shape[axis]})"
        raise InvalidArgument(f"Input num_split should be between 1 and {limit}, got {num_split}")
    require_inside(indices, shape)
    size, more = divmod(int(shape[axis]), num_split)
    starts = [k * size + min(k, more) for k in range(num_split + 1)]
    parts = [sparse_slice(indices, values, shape, *_window(shape, axis, a, b)) for a, b in itertools.pairwise(starts)]
    return tuple(part[output] for output in range(3) for part in parts)


def _window(shape: Array, axis: int, start: int, stop: int) -> tuple[Array, Array]:
    first, size = np.zeros_like(shape), shape.copy()
    first[axis], size[axis] = start, stop - start
    return first, size


def _slice_shape(indices: Spec, values: Spec, shape: Spec, start: Spec, size: Spec, /) -> list[Shape]:
    rank = _rank_of(shape)
    return [(None, rank), (None,), (rank,)]


@kernel("SparseSlice", unit="memory", shape=_slice_shape, ranks={**SPARSE, "start": 1, "size": 1})
def sparse_slice(indices: Array, values: Array, shape: Array, start: Array, size: Array, /) -> tuple[Array, Array, Array]:
    """The entries inside a box, counted from its corner.  start, size: (rank,).  Source: TensorFlow op `SparseSlice`."""
    require_extents(indices, shape=shape, start=start, size=size)
    is_inside = ((indices >= start) & (indices < start + size)).all(axis=1)
    return indices[is_inside] - start, values[is_inside], np.maximum(np.minimum(size, shape - start), 0)


def _value_shape(gradient: Spec, indices: Spec, *others: Spec) -> Shape:
    return (indices.shape[0] if indices.shape else None,)


@kernel(
    "SparseSliceGrad",
    unit="memory",
    shape=_value_shape,
    dtypes=dt.NUMBERS,
    ranks={"gradient": 1, "indices": 2, "start": 1, "sliced": 2},
)
def sparse_slice_grad(gradient: Array, indices: Array, start: Array, sliced: Array, /) -> Array:
    """The gradient where a value was kept, 0 elsewhere; both coordinate lists in the same order.

    Source: TensorFlow op `SparseSliceGrad`.
    """
    require_rows(sliced, gradient)
    require_extents(indices, start=start)
    require_extents(sliced, start=start)
    made = np.zeros(len(indices), gradient.dtype)
    if len(sliced):
        every, kept = places_of(indices, sliced + start)
        is_kept = np.isin(every, kept)
        made[is_kept] = gradient[: is_kept.sum()]
    return made


def _added_shape(a_indices: Spec, *others: Spec) -> list[Shape]:
    rank = a_indices.shape[1] if a_indices.shape else None
    return [(None, rank), (None,), (rank,)]


def _union(a_indices: Array, b_indices: Array) -> tuple[Array, Array, Array]:
    """(coordinates of both in order, place of each of a, place of each of b)."""
    if np.array_equal(a_indices, b_indices):  # the heads are always equal, whatever the order (graph attention adds such)
        every = np.arange(len(a_indices))
        return a_indices.copy(), every, every
    a, b = places_of(a_indices, b_indices)
    both = np.concatenate([a_indices, b_indices])
    if (np.diff(a) > 0).all() and (np.diff(b) > 0).all():
        _, sources, places = np.unique(np.concatenate([a, b]), return_index=True, return_inverse=True)
    else:
        sources, places = _merged(a.tolist(), b.tolist())
    return both[sources], places[: len(a)], places[len(a) :]


def _merged(a: list[int], b: list[int]) -> tuple[Array, Array]:
    """The merge of two lists that do not rise: the smaller of both heads is next, and equal heads are one, as TensorFlow goes.

    Returns: where each result comes from, and the result that each entry of a and of b goes into.
    """
    sources: list[int] = []
    of_a: list[int] = []
    of_b: list[int] = []
    while len(of_a) < len(a) or len(of_b) < len(b):
        i, j = len(of_a), len(of_b)
        takes_a = j == len(b) or (i < len(a) and a[i] <= b[j])
        takes_b = i == len(a) or (j < len(b) and b[j] <= a[i])
        if takes_a:
            of_a.append(len(sources))
        if takes_b:
            of_b.append(len(sources))
        sources.append(i if takes_a else len(a) + j)
    return np.array(sources, np.intp), np.array(of_a + of_b, np.intp)


@kernel(
    "SparseAdd",
    unit="vector",
    shape=_added_shape,
    dtypes={"T": dt.NUMBERS - {"uint8"}, "Treal": dt.NUMBERS},
    ranks={"a_values": 1, "b_values": 1, "thresh": 0},
)
def sparse_add(
    a_indices: Array, a_values: Array, a_shape: Array, b_indices: Array, b_values: Array, b_shape: Array, thresh: Array, /
) -> tuple[Array, Array, Array]:
    """The sum; sums of two values are left out when their magnitude is below thresh.  Source: TensorFlow op `SparseAdd`."""
    _check_same(a_shape, b_shape)
    coordinates, of_a, of_b = _union(a_indices, b_indices)
    sums = np.zeros(len(coordinates), a_values.dtype)
    np.add.at(sums, of_a, a_values)
    np.add.at(sums, of_b, b_values)
    is_kept = (np.abs(sums) >= thresh) | ~(np.isin(np.arange(len(sums)), of_a) & np.isin(np.arange(len(sums)), of_b))
    return coordinates[is_kept], sums[is_kept], a_shape.copy()


def _check_same(a: Array, b: Array) -> None:
    if a.shape != b.shape or (a != b).any():
        raise InvalidArgument(f"Operands' shapes do not match: {shape_text(a)} vs. {shape_text(b)}")


def _two_values(gradient: Spec, a_indices: Spec, b_indices: Spec, sum_indices: Spec, /) -> list[Shape]:
    return [_value_shape(gradient, a_indices), _value_shape(gradient, b_indices)]


@kernel("SparseAddGrad", unit="memory", shape=_two_values, dtypes=dt.NUMBERS - {"uint8"})
def sparse_add_grad(gradient: Array, a_indices: Array, b_indices: Array, sum_indices: Array, /) -> tuple[Array, Array]:
    """The gradient of the sum at the coordinates of both, 0 where it was left out.  Source: TensorFlow op `SparseAddGrad`."""
    require_rows(sum_indices, gradient)
    a, b, known = places_of(a_indices, b_indices, sum_indices)
    if (np.diff(known) <= 0).any():
        coordinates, of_a, of_b = _union(a_indices, b_indices)
        if np.array_equal(coordinates, sum_indices):
            return gradient[of_a], gradient[of_b]
    return _looked_up(a, known, gradient), _looked_up(b, known, gradient)


def _looked_up(wanted: Array, known: Array, values: Array) -> Array:
    """The value of each wanted key, 0 for one that is not known; known keys rise."""
    places = np.minimum(np.searchsorted(known, wanted), max(len(known) - 1, 0))
    if not len(known):
        return np.zeros(len(wanted), values.dtype)
    return np.where(known[places] == wanted, values[places], values.dtype.type(0))


def _extreme_shape(a_indices: Spec, *others: Spec) -> list[Shape]:
    return _added_shape(a_indices)[:2]


def _register_extreme(op: str, ufunc: np.ufunc) -> None:
    def extreme(
        a_indices: Array, a_values: Array, a_shape: Array, b_indices: Array, b_values: Array, b_shape: Array, /
    ) -> tuple[Array, Array]:
        _check_same(a_shape, b_shape)
        for indices in (a_indices, b_indices):
            require_inside(indices, a_shape)
        coordinates, of_a, of_b = _union(a_indices, b_indices)
        left, right = np.zeros((2, len(coordinates)), a_values.dtype)
        left[of_a], right[of_b] = a_values, b_values
        return coordinates, ufunc(left, right)

    extreme.__doc__ = f"{op}: element by element, a coordinate that one lacks is 0 there.  Source: TensorFlow op `{op}`."
    ranks = {"a_values": 1, "b_values": 1}
    kernel(op, unit="vector", shape=_extreme_shape, dtypes=dt.NUMBERS, ranks=ranks)(extreme)


_register_extreme("SparseSparseMaximum", np.maximum)
_register_extreme("SparseSparseMinimum", np.minimum)


def _register_dense(op: str, function: Callable[..., Any]) -> None:
    def with_dense(indices: Array, values: Array, shape: Array, dense: Array, /) -> Array:
        extents = tuple(int(n) for n in shape)
        if dense.ndim > len(extents) or np.broadcast_shapes(dense.shape, extents) != extents:
            given = f"{shape_text(extents)} vs. {shape_text(dense.shape)}"
            raise InvalidArgument(f"SparseDenseBinaryOpShared broadcasts dense to sparse only; got incompatible shapes: {given}")
        if row_indexing.linear(indices, extents)[1] >= 0:
            raise InvalidArgument("Provided indices are out-of-bounds w.r.t. dense side with broadcasted shape")
        return np.asarray(function(values, np.broadcast_to(dense, extents)[tuple(indices.T)]))

    with_dense.__doc__ = f"The values of the sparse tensor with those of the dense one there.  Source: TensorFlow op `{op}`."
    kernel(op, unit="vector", shape=same_as(1), dtypes=dt.NUMBERS, ranks=SPARSE)(with_dense)


_register_dense("SparseDenseCwiseAdd", np.add)
_register_dense("SparseDenseCwiseMul", np.multiply)


def _check_equal(sparse: list[int], dense: tuple[int, ...]) -> None:
    """Raises: InvalidArgument in TensorFlow's words."""
    if len(sparse) != len(dense):
        raise InvalidArgument(f"Two operands have different ranks; received: {len(sparse)} and {len(dense)}")
    for axis, (one, other) in enumerate(zip(sparse, dense, strict=True)):
        if one != other:
            sides = f"sparse side {one} vs dense side {other}"
            raise InvalidArgument(f"Dimension {axis} does not equal (no broadcasting is supported): {sides}")


@kernel(
    "SparseTensorDenseAdd",
    unit="vector",
    shape=same_as(3),
    dtypes={"T": dt.NUMBERS, "Tindices": dt.INDICES},
    ranks=SPARSE,
)
def sparse_tensor_dense_add(indices: Array, values: Array, shape: Array, dense: Array, /) -> Array:
    """A dense tensor with sparse values added.  Source: TensorFlow op `SparseTensorDenseAdd`."""
    _check_equal(shape.tolist(), dense.shape)
    places, wrong = row_indexing.linear(indices, dense.shape)
    if wrong >= 0:
        axis = int(np.argmax((indices[wrong] < 0) | (indices[wrong] >= dense.shape)))
        where = f"a_indices({wrong},{axis}) = {indices[wrong, axis]}, dense tensor shape: {' '.join(map(str, dense.shape))}"
        raise InvalidArgument(f"Sparse tensor has an invalid index on dimension {axis}: {where}")
    made = dense.copy()
    np.add.at(made.reshape(-1), places, values)
    return made
