"""Sparse tensors, given as coordinates and values, made dense or multiplied."""

from __future__ import annotations

from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.half_storage import store, widen
from npu_runtime.kernels.shapes import constant_ints
from npu_runtime.kernels.threads import row_indexing
from npu_runtime.kernels.variable_access import shape_text

Array = np.ndarray


def _dense_shape(indices: Spec, output_shape: Spec, /, *others: Spec, **attrs: Any) -> Shape:
    known = constant_ints(output_shape)
    if known is not None or not output_shape.shape:
        return known
    return None if output_shape.shape[0] is None else (None,) * output_shape.shape[0]


@kernel(
    "SparseToDense",
    unit="memory",
    shape=_dense_shape,
    dtypes={"T": dt.ALL, "Tindices": dt.INDICES},
    ranks={"output_shape": 1, "default_value": 0},
)
def sparse_to_dense(
    sparse_indices: Array, output_shape: Array, sparse_values: Array, default_value: Array, /, *, validate_indices: bool = True,
    out: Array | None = None,
) -> Array:  # fmt: skip
    """A tensor of default_value with sparse_values (a vector or one value) at sparse_indices ((), (n,) or (n, rank)).

    Raises: InvalidArgument for coordinates outside, and, if they are to be validated, unsorted or repeated.
    Source: TensorFlow op `SparseToDense`.
    """
    shape = tuple(int(n) for n in output_shape.reshape(-1))
    n_values = sparse_indices.shape[0] if sparse_indices.ndim else 1
    depth = sparse_indices.shape[1] if sparse_indices.ndim > 1 else 1
    if sparse_indices.ndim > 2 or depth != len(shape):
        raise InvalidArgument(f"output_shape has incorrect number of elements: {len(shape)} should be: {depth}")
    if sparse_values.ndim > 1 or (sparse_values.ndim and sparse_values.size != n_values):
        given = shape_text(sparse_values.shape)
        raise InvalidArgument(f"sparse_values has incorrect shape {given}, should be [] or [{n_values}]")
    places = validated_places(sparse_indices.reshape(n_values, depth), shape, validate_indices)
    made = np.empty(shape, sparse_values.dtype) if out is None else out
    made[...] = default_value
    made.reshape(-1)[places] = sparse_values
    return made


def validated_places(indices: Array, shape: tuple[int, ...], is_validated: bool = True) -> Array:
    """Row-major places of coordinates (n, rank).  Raises: InvalidArgument outside, and, validated, if they do not rise."""
    places, wrong = row_indexing.linear(indices, shape)
    steps = np.diff(places) if is_validated and wrong != 0 else np.ones(0, np.int64)
    bad = np.flatnonzero(steps[: wrong - 1 if wrong > 0 else None] <= 0) + 1
    if bad.size:
        text = "is out of order. Many sparse ops require sorted indices." if steps[bad[0] - 1] < 0 else "is repeated"
        raise InvalidArgument(f"indices[{bad[0]}] = {shape_text(indices[bad[0]])} {text}")
    if wrong >= 0 and not is_validated:
        raise InvalidArgument(f"Indices are not valid (out of bounds).  Shape: {shape_text(shape)}")
    if wrong >= 0:
        outside = f"is out of bounds: need 0 <= index < {shape_text(shape)}"
        raise InvalidArgument(f"indices[{wrong}] = {shape_text(indices[wrong])} {outside}")
    return places


def _product_shape(
    a_indices: Spec, a_values: Spec, a_shape: Spec, b: Spec, /, *, adjoint_a: bool = False, adjoint_b: bool = False
) -> Shape:
    known = constant_ints(a_shape)
    n_rows = known[1 if adjoint_a else 0] if known else None
    return (n_rows, None if b.shape is None else b.shape[0 if adjoint_b else 1])


def _product_flops(inputs: Any, outputs: Any, attrs: dict[str, Any]) -> float:
    return 2.0 * inputs[1].known_shape()[0] * outputs[0].known_shape()[1]


@kernel("SparseTensorDenseMatMul", unit="vector", shape=_product_shape, estimate=_product_flops,
        dtypes={"T": dt.FLOATS | {"int32"}, "Tindices": dt.INDICES},
        ranks={"a_indices": 2, "a_values": 1, "a_shape": 1, "b": 2})  # fmt: skip
def sparse_tensor_dense_matmul(
    a_indices: Array, a_values: Array, a_shape: Array, b: Array, /, *, adjoint_a: bool = False, adjoint_b: bool = False
) -> Array:
    """A sparse (m, k) matrix times a dense (k, n) one.

    Raises: InvalidArgument for coordinates outside or inner extents that differ.
    Source: TensorFlow op `SparseTensorDenseMatMul`.
    """
    if a_shape.size != 2:
        raise InvalidArgument(f"Tensor 'a_shape' must have 2 elements, but has shape {shape_text(a_shape.shape)}")
    if len(a_indices) != len(a_values):
        rows_of = f"{shape_text(a_indices.shape)} and {shape_text(a_values.shape)}"
        raise InvalidArgument(f"Number of rows of a_indices does not match number of entries in a_values: {rows_of}")
    shape = tuple(int(n) for n in a_shape)
    row, column = np.ascontiguousarray(a_indices.T[::-1] if adjoint_a else a_indices.T)
    shape, dense = (shape[::-1] if adjoint_a else shape), (b.T if adjoint_b else b)
    if shape[1] != dense.shape[0]:
        raise InvalidArgument(
            f"Cannot multiply A and B because inner dimension does not match: {shape[1]} vs. {dense.shape[0]}.  Did you forget a "
            f"transpose?  Dimensions of A: [{shape[0]}, {shape[1]}).  Dimensions of B: {shape_text(b.shape)}"
        )
    _check_coordinates(row, column, shape, adjoint_a)
    values, wide = widen(a_values), np.ascontiguousarray(widen(dense))
    product = np.zeros((shape[0], wide.shape[1]), wide.dtype)
    row_indexing.combine_picked(np.add, product, row, wide, column, values)
    return store(product, b.dtype, None)


def _check_coordinates(row: Array, column: Array, shape: tuple[int, ...], is_turned: bool) -> None:
    if not row.size or (min(row.min(), column.min()) >= 0 and row.max() < shape[0] and column.max() < shape[1]):
        return
    wrong = np.flatnonzero((column < 0) | (column >= shape[1]) | (row < 0) | (row >= shape[0]))
    place = int(wrong[0])
    name, axis, numbers = ("k", 1, column) if not 0 <= column[place] < shape[1] else ("m", 0, row)
    raise InvalidArgument(f"{name} ({numbers[place]}) from index[{place},{axis ^ is_turned}] out of bounds (>={shape[axis]})")
