"""Sums, maxima and softmax over axes of sparse tensors; sparse products of dense matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.cost.work import per_input_element
from npu_runtime.errors import DeviceError, InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.half_storage import store, widen
from npu_runtime.kernels.linalg.matmul import matmul_flops, matmul_shape, run_matmul
from npu_runtime.kernels.shapes import normalize_axes, same_as
from npu_runtime.kernels.sparse.sparse_tensors import SPARSE, places_of, require_extents, require_rows
from npu_runtime.kernels.variable_access import shape_text

Array = np.ndarray
SOFTMAX = frozenset({"float16", "float32"})
WIDE = frozenset({"bfloat16", "float32"})


def _kept(shape: Array, axes: Array) -> tuple[list[int], tuple[int, ...]]:
    """(axes that stay, axes that go).  axes: (), one axis, or (n,)."""
    if axes.ndim > 1:
        raise InvalidArgument(f"Expected reduction_axes to be a scalar or a vector; got shape: {shape_text(axes.shape)}")
    rank = len(shape)
    gone = normalize_axes([int(a) for a in axes.reshape(-1)], rank)
    return [a for a in range(rank) if a not in gone], gone


def _grouped(ufunc: np.ufunc, indices: Array, values: Array, shape: Array, axes: Array) -> tuple[Array, Array, list[int]]:
    """(coordinates of the groups that hold a value, in order, their results, axes that stay)."""
    require_rows(indices, values)
    require_extents(indices, shape=shape)
    stay, _ = _kept(shape, axes)
    (places,) = places_of(indices[:, stay])
    order = np.argsort(places, kind="stable")
    _, starts = np.unique(places[order], return_index=True)
    found = indices[order[starts]][:, stay]
    wide = values[order].astype(np.float32) if values.dtype.itemsize < 4 and values.dtype.kind not in "iu" else values[order]
    return found, (ufunc.reduceat(wide, starts, dtype=wide.dtype) if len(found) else wide[:0]).astype(values.dtype), stay


def _inside(found: Array, extents: list[int]) -> Array:
    """Row-major places. Raises: DeviceError (Internal, as TensorFlow) for one outside the whole; an axis is not looked at."""
    places = np.zeros(len(found), np.int64)
    for axis, extent in enumerate(extents):
        places = places * extent + found[:, axis]
    outside = np.flatnonzero((places < 0) | (places >= math.prod(extents)))
    if outside.size:
        bounds = f"outside of bounds of [0, {math.prod(extents)})"
        raise DeviceError(f"Obtained a write index of {places[outside[0]]} which is {bounds}")
    return places


def _unknown_shape(indices: Spec, values: Spec, shape: Spec, axes: Spec, /, **attrs: Any) -> Shape:
    return None


def _sparse_shapes(indices: Spec, values: Spec, shape: Spec, axes: Spec, /, **attrs: Any) -> list[Shape]:
    return [(None, None), (None,), (None,)]


def _register(name: str, ufunc: np.ufunc) -> None:
    def dense(indices: Array, values: Array, shape: Array, axes: Array, /, *, keep_dims: bool = False) -> Array:
        found, results, stay = _grouped(ufunc, indices, values, shape, axes)
        extents = [int(n) for n in shape[stay]]
        made = np.zeros(int(np.prod(extents)), values.dtype)
        made[_inside(found, extents)] = results
        return made.reshape([int(n) if a in stay else 1 for a, n in enumerate(shape)] if keep_dims else extents)

    def sparse(
        indices: Array, values: Array, shape: Array, axes: Array, /, *, keep_dims: bool = False
    ) -> tuple[Array, Array, Array]:
        found, results, stay = _grouped(ufunc, indices, values, shape, axes)
        if not keep_dims:
            return found, results, shape[stay]
        whole = np.zeros((len(found), len(shape)), np.int64)
        whole[:, stay] = found
        return whole, results, np.where(np.isin(np.arange(len(shape)), stay), shape, 1)

    dense.__doc__ = f"{name} over axes as a dense tensor, 0 where there is no value.  Source: TensorFlow op `SparseReduce{name}`."
    sparse.__doc__ = f"{name} over axes as a sparse tensor.  Source: TensorFlow op `SparseReduce{name}Sparse`."
    fixed: dict[str, Any] = {"unit": "vector", "dtypes": dt.NUMBERS, "estimate": per_input_element(1, 1), "ranks": SPARSE}
    kernel(f"SparseReduce{name}", shape=_unknown_shape, **fixed)(dense)
    kernel(f"SparseReduce{name}Sparse", shape=_sparse_shapes, **fixed)(sparse)


_register("Sum", np.add)
_register("Max", np.maximum)


@kernel("SparseSoftmax", unit="vector", shape=same_as(1), dtypes=SOFTMAX, estimate=per_input_element(5, 1), ranks=SPARSE)
def sparse_softmax(indices: Array, values: Array, shape: Array, /) -> Array:
    """Softmax over the values of each row, in row-major order, also where the coordinates come in another: TensorFlow's kernel
    puts them in order and writes the results as they follow then.  Source: TensorFlow op `SparseSoftmax`.
    """
    require_rows(indices, values)
    require_extents(indices, shape=shape)
    if len(shape) < 2:
        raise InvalidArgument(f"Input should have rank >= 2, but received shape: {shape_text(shape)[1:-1]}")
    if not len(values):
        return values.copy()
    order = np.argsort(places_of(indices)[0], kind="stable")
    lines = places_of(indices[order, :-1])[0]
    starts = np.flatnonzero(np.diff(lines, prepend=lines[0] - 1))
    lengths = np.diff(starts, append=len(lines))
    wide = widen(values[order])
    shifted = np.exp(wide - np.repeat(np.maximum.reduceat(wide, starts), lengths))
    return store(shifted / np.repeat(np.add.reduceat(shifted, starts), lengths), values.dtype, None)


def _wide_product(a: Spec, b: Spec, /, *, transpose_a: bool = False, transpose_b: bool = False) -> Shape:
    return matmul_shape(a, b, transpose_a=transpose_a, transpose_b=transpose_b)


@kernel(
    "SparseMatMul",
    unit="cube",
    shape=_wide_product,
    dtypes={"Ta": WIDE, "Tb": WIDE},
    ignores=["a_is_sparse", "b_is_sparse"],
    estimate=matmul_flops,
)
def sparse_mat_mul(a: Array, b: Array, /, *, transpose_a: bool = False, transpose_b: bool = False) -> Array:
    """The product in fp32 of matrices that may hold many zeros.  Source: TensorFlow op `SparseMatMul`."""
    return run_matmul(a.astype(np.float32), b.astype(np.float32), transpose_a, transpose_b, None)
