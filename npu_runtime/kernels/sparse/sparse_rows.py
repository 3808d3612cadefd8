"""The coordinates of sparse tensors: another shape for them, and empty rows filled."""

from __future__ import annotations

import math

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.shapes import constant_ints
from npu_runtime.kernels.threads.row_indexing import are_inside
from npu_runtime.kernels.variable_access import shape_text

Array = np.ndarray


def _reshape_shape(indices: Spec, shape: Spec, new_shape: Spec, /) -> list[Shape]:
    rank = None if not new_shape.shape else new_shape.shape[0]
    return [(None if not indices.shape else indices.shape[0], rank), (rank,)]


@kernel("SparseReshape", unit="memory", shape=_reshape_shape)
def sparse_reshape(input_indices: Array, input_shape: Array, new_shape: Array, /) -> tuple[Array, Array]:
    """The same places in another shape.

    input_indices: (n, rank) int64.  input_shape: (rank,) int64.  new_shape: (new rank,) int64, one entry may be -1.
    Returns: (n, new rank) int64; the shape.  Raises: InvalidArgument when the numbers of elements differ.
    Source: TensorFlow op `SparseReshape`.
    """
    if input_indices.ndim != 2:
        raise InvalidArgument(f"Input indices should be a matrix but received shape {shape_text(input_indices.shape)}")
    shape = _filled_in(input_shape, new_shape)
    strides = _strides(input_shape.tolist())
    flat = (input_indices * strides).sum(axis=1)
    made = np.empty((len(flat), shape.size), np.int64)
    for axis, stride in enumerate(_strides(shape.tolist()) if flat.size else []):
        # the first one takes what lies outside, also below, rounded towards zero: nothing looks at the bounds
        made[:, axis] = flat if stride == 1 else np.sign(flat) * (np.abs(flat) // stride)
        flat = flat - made[:, axis] * stride
    return made, shape


def _strides(shape: list[int]) -> list[int]:
    """Elements from one index to the next, of each axis."""
    return [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]


def _filled_in(old: Array, new: Array) -> Array:
    """The new shape with its -1 replaced. Raises: InvalidArgument when it does not fit."""
    size, known = math.prod(old.tolist()), math.prod([n for n in new.tolist() if n != -1])
    shape = new.astype(np.int64)
    open_axes = np.flatnonzero(new == -1)
    if open_axes.size > 1:
        raise InvalidArgument(f"only one output dimension may be -1, not both {open_axes[0]} and {open_axes[1]}")
    if (shape < -1).any():
        place = int(np.argmax(shape < -1))
        raise InvalidArgument(f"size {place} must be non-negative, not {shape[place]}")
    if open_axes.size:
        if known == 0:
            raise InvalidArgument(
                "reshape cannot infer the missing input size for an empty tensor unless all specified input sizes are non-zero"
            )
        if size % known:
            raise InvalidArgument(
                f"Input to reshape is a SparseTensor with {size} dense values, but the requested shape requires a multiple of "
                f"{known}. input_shape={shape_text(old.tolist())} output_shape={shape_text(shape.tolist())}"
            )
        shape[open_axes[0]] = size // known
    elif known != size:
        raise InvalidArgument(
            f"Input to reshape is a tensor with {size} dense values, but the requested shape has {known}. "
            f"input_shape={shape_text(old.tolist())} output_shape={shape_text(new.tolist())}"
        )
    return shape


def _fill_shape(indices: Spec, values: Spec, dense_shape: Spec, default: Spec, /) -> list[Shape]:
    known = constant_ints(dense_shape)
    rank = None if indices.shape is None else indices.shape[1]
    n_rows = known[0] if known else None
    return [(None, rank), (None,), (n_rows,), (None if values.shape is None else values.shape[0],)]


@kernel(
    "SparseFillEmptyRows",
    unit="memory",
    shape=_fill_shape,
    dtypes=dt.ALL,
    ranks={"indices": 2, "values": 1, "dense_shape": 1, "default_value": 0},
)
def sparse_fill_empty_rows(
    indices: Array, values: Array, dense_shape: Array, default_value: Array, /
) -> tuple[Array, Array, Array, Array]:
    """Every row without a value gets default_value in its first place.

    indices: (n, rank) int64.  values: (n,).  dense_shape: (rank,) int64.
    Returns: indices and values by row, (rows,) bool whether a row was empty, (n,) int64 where each value went.
    Raises: InvalidArgument for rows outside the shape.  Source: TensorFlow op `SparseFillEmptyRows`.
    """
    if len(indices) != len(values):
        raise InvalidArgument(
            f"The length of `values` ({len(values)}) must match the first dimension of `indices` ({len(indices)})."
        )
    if dense_shape.shape != indices.shape[1:]:
        raise InvalidArgument(
            f"The length of `dense_shape` ({dense_shape.size}) must match the second dimension of `indices` ({indices.shape[1]})."
        )
    n_rows = int(dense_shape[0])
    rows = indices[:, 0]
    if not are_inside(rows, n_rows):
        place = int(np.argmax((rows < 0) | (rows >= n_rows)))
        raise InvalidArgument(f"indices({place}, 0) is invalid: {rows[place]} >= {n_rows}")
    is_empty = np.bincount(rows, minlength=n_rows)[:n_rows] == 0
    if not is_empty.any() and (rows[1:] >= rows[:-1]).all():
        return indices.copy(), values.copy(), is_empty, np.arange(rows.size)
    added = np.zeros((int(is_empty.sum()), indices.shape[1]), np.int64)
    added[:, 0] = np.flatnonzero(is_empty)
    all_indices = np.concatenate([indices, added])
    all_values = np.concatenate([values, np.full(len(added), default_value, values.dtype)])
    order = np.argsort(all_indices[:, 0], kind="stable")
    went_to = np.empty(order.size, np.int64)
    went_to[order] = np.arange(order.size)
    return all_indices[order], all_values[order], is_empty, went_to[: rows.size]


def _fill_grad_shape(reverse_index_map: Spec, grad_values: Spec, /) -> list[Shape]:
    return [reverse_index_map.shape, ()]


@kernel(
    "SparseFillEmptyRowsGrad",
    unit="vector",
    shape=_fill_grad_shape,
    dtypes=dt.NUMBERS,
    ranks={"reverse_index_map": 1, "grad_values": 1},
)
def sparse_fill_empty_rows_grad(reverse_index_map: Array, grad_values: Array, /) -> tuple[Array, Array]:
    """Gradients of the values and of the default.

    reverse_index_map: (n,) int64, output 3 of SparseFillEmptyRows.  grad_values: (m,).  Returns: (n,); ().
    Raises: InvalidArgument for numbers outside.  Source: TensorFlow op `SparseFillEmptyRowsGrad`.
    """
    outside = (reverse_index_map < 0) | (reverse_index_map >= grad_values.size)
    if outside.any():
        wrong = reverse_index_map[np.argmax(outside)]
        raise InvalidArgument(f"Elements in reverse index must be in [0, {grad_values.size}) but got {wrong}")
    is_added = np.ones(grad_values.size, bool)
    is_added[reverse_index_map] = False
    default = grad_values[is_added].sum(dtype=np.float32 if grad_values.dtype.itemsize == 2 else grad_values.dtype)
    return grad_values[reverse_index_map], np.asarray(default, grad_values.dtype)
