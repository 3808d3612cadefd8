"""Rows and slices of a tensor by index."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.device.variable import Variable
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels import variable_access
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.shapes import constant_ints
from npu_runtime.kernels.threads import row_indexing

PARAMS = {"Tparams": dt.ALL, "Tindices": dt.INDICES | {"int16"}}
BY_VALUE = {"dtype": dt.ALL, "Tindices": dt.INDICES}


def _gathered_shape(params: Shape, indices: Shape, axis: int, batch_dims: int) -> Shape:
    if params is None or indices is None:
        return None
    axis = axis + len(params) if axis < 0 else axis
    batch_dims = batch_dims + len(indices) if batch_dims < 0 else batch_dims
    return params[:axis] + indices[batch_dims:] + params[axis + 1 :]


def _gather_shape(params: Spec, indices: Spec, axis: Spec, /, *, batch_dims: int = 0) -> Shape:
    known = constant_ints(axis)
    if known is not None:
        return _gathered_shape(params.shape, indices.shape, known[0], batch_dims)
    if params.shape is None or indices.shape is None:
        return None
    skipped = batch_dims + len(indices.shape) if batch_dims < 0 else batch_dims
    return (None,) * (len(params.shape) + len(indices.shape) - skipped - 1)


@kernel("GatherV2", unit="memory", shape=_gather_shape, dtypes={**PARAMS, "Taxis": dt.INDICES}, ranks={"axis": 0})
def gather_v2(
    params: np.ndarray, indices: np.ndarray, axis: np.ndarray, /, *, batch_dims: int = 0, out: np.ndarray | None = None
) -> np.ndarray:
    """Slices of params along an axis; the first batch_dims axes go together with those of indices.

    Returns: params.shape[:axis] + indices.shape[batch_dims:] + params.shape[axis + 1:].
    Raises: InvalidArgument for an index or an axis outside its range.  Source: TensorFlow op `GatherV2`.
    """
    given = axis.item()
    place = given + params.ndim if given < 0 else given
    if not 0 <= place < params.ndim:
        raise InvalidArgument(f"Expected axis in the range [{-params.ndim}, {params.ndim}), but got {given}")
    n_batch = batch_dims + indices.ndim if batch_dims < 0 else batch_dims
    if not 0 <= n_batch <= min(place, indices.ndim):
        raise InvalidArgument(f"batch_dims ({batch_dims}) must be less than or equal to axis ({place})")
    if params.shape[:n_batch] != indices.shape[:n_batch]:
        both = f"{variable_access.shape_text(params.shape)} and {variable_access.shape_text(indices.shape)}"
        raise InvalidArgument(f"the first {n_batch} dimensions of params and indices must match, got {both}")
    return _gather(params, indices, place, n_batch, out)


def _gather(params: np.ndarray, indices: np.ndarray, axis: int, n_batch: int, out: np.ndarray | None) -> np.ndarray:
    extent = params.shape[axis]
    row_indexing.check_range(indices, extent)
    shape = params.shape[:axis] + indices.shape[n_batch:] + params.shape[axis + 1 :]
    made = np.empty(shape, params.dtype) if out is None else out
    if made.size == 0:
        return made
    if not axis and made.nbytes <= row_indexing.GRAIN_BYTES:
        params.take(indices, 0, made, "clip")  # all are inside; "raise" looks once more
        return made
    batch, outer = math.prod(params.shape[:n_batch]), math.prod(params.shape[n_batch:axis])
    inner = math.prod(params.shape[axis + 1 :])
    numbers = indices.reshape(-1)
    if batch * outer > 1:
        first = np.arange(batch * outer, dtype=np.int64).reshape(batch, outer, 1) * extent
        numbers = (indices.reshape(batch, 1, -1) + first).reshape(-1)
    row_indexing.take(np.ascontiguousarray(params).reshape(-1, inner), numbers, made.reshape(-1, inner))
    return made


def _first_axis(params: Spec, indices: Spec, /, *, batch_dims: int = 0, **attrs: Any) -> Shape:
    return _gathered_shape(params.shape, indices.shape, batch_dims, batch_dims)


@kernel("Gather", unit="memory", shape=_first_axis, dtypes=PARAMS, ignores=("validate_indices",))
def gather(params: np.ndarray, indices: np.ndarray, /, *, out: np.ndarray | None = None) -> np.ndarray:
    """Rows of params: indices.shape + params.shape[1:].  Source: TensorFlow op `Gather`."""
    return _gather_rows(params, indices, 0, out)


@kernel("ResourceGather", unit="memory", shape=_first_axis, dtypes=BY_VALUE, ignores=("validate_indices",))
def resource_gather(
    resource: Variable, indices: np.ndarray, /, *, batch_dims: int = 0, out: np.ndarray | None = None
) -> np.ndarray:
    """Rows of a variable.  Source: TensorFlow op `ResourceGather`."""
    return _gather_rows(variable_access.value(resource), indices, batch_dims, out)


def _gather_rows(params: np.ndarray, indices: np.ndarray, batch_dims: int, out: np.ndarray | None) -> np.ndarray:
    if params.ndim == 0:
        raise InvalidArgument("params must be at least 1 dimensional")
    return _gather(params, indices, batch_dims, batch_dims, out)


def _tuples_shape(params: Spec, indices: Spec, /, **attrs: Any) -> Shape:
    if params.shape is None or not indices.shape or indices.shape[-1] is None:
        return None
    return indices.shape[:-1] + params.shape[indices.shape[-1] :]


@kernel("GatherNd", unit="memory", shape=_tuples_shape, dtypes=PARAMS)
def gather_nd(params: np.ndarray, indices: np.ndarray, /, *, out: np.ndarray | None = None) -> np.ndarray:
    """Slices of params that index tuples name: indices.shape[:-1] + params.shape[indices.shape[-1]:].

    Raises: InvalidArgument for a tuple outside params.  Source: TensorFlow op `GatherNd`.
    """
    if indices.ndim == 0 or params.ndim == 0:
        raise InvalidArgument(f"{'indices' if indices.ndim == 0 else 'params'} must be at least a vector")
    depth = indices.shape[-1]
    if depth > params.ndim:
        text = f"index innermost dimension length must be <= params rank; saw: {depth} vs. {params.ndim}"
        raise InvalidArgument(text)
    if params.size == 0 and 0 not in indices.shape[:-1]:
        shape = variable_access.shape_text(params.shape)
        raise InvalidArgument(f"Requested more than 0 entries, but params is empty.  Params shape: {shape}")
    tuples = indices.reshape(math.prod(indices.shape[:-1]), depth)
    numbers, wrong = row_indexing.linear(tuples, params.shape)
    if wrong >= 0:
        where = f"indices{row_indexing.position_text(indices.shape[:-1], wrong)} = [{', '.join(map(str, tuples[wrong]))}]"
        raise InvalidArgument(f"{where} does not index into param shape {variable_access.shape_text(params.shape)}")
    made = np.empty(indices.shape[:-1] + params.shape[depth:], params.dtype) if out is None else out
    if made.size:
        inner = math.prod(params.shape[depth:])
        row_indexing.take(np.ascontiguousarray(params).reshape(-1, inner), numbers, made.reshape(-1, inner))
    return made


@kernel("ResourceGatherNd", unit="memory", shape=_tuples_shape, dtypes=BY_VALUE)
def resource_gather_nd(resource: Variable, indices: np.ndarray, /, *, out: np.ndarray | None = None) -> np.ndarray:
    """As GatherNd, of a variable.  Source: TensorFlow op `ResourceGatherNd`."""
    made: np.ndarray = gather_nd(variable_access.value(resource), indices, out=out)
    return made
