"""Rolled, reinterpreted, indexed and patched arrays."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.half_storage import store
from npu_runtime.kernels.shapes import constant_ints, same_as
from npu_runtime.kernels.threads.row_indexing import check_range
from npu_runtime.kernels.variable_access import shape_text
from npu_runtime.kernels.windows.windows import window_extent

Array = np.ndarray


@kernel("Roll", unit="memory", shape=same_as(0), dtypes={"T": dt.ALL, "Tshift": dt.INDICES, "Taxis": dt.INDICES})
def roll(x: Array, shift: Array, axis: Array, /, *, out: Array | None = None) -> Array:
    """Moved along axes, what leaves one end enters at the other; an axis named twice moves by the sum.

    shift, axis: both () or (n,).  Raises: InvalidArgument for an axis outside the rank.  Source: TensorFlow op `Roll`.
    """
    if x.ndim < 1:
        raise InvalidArgument("input must be 1-D or higher")
    if shift.shape != axis.shape:
        raise InvalidArgument("shift and axis must have the same size")
    axes = [int(a) for a in axis.reshape(-1)]
    for place in axes:
        if not -x.ndim <= place < x.ndim:
            raise InvalidArgument(f"axis {place} is out of range")
    return store(np.roll(x, [int(s) for s in shift.reshape(-1)], axes), x.dtype, out)


def _bitcast_shape(x: Spec, /, *, type: str) -> Shape:
    if x.shape is None or x.dtype not in dt.MOVED:
        return None
    before, after = dt.itemsize_bytes(x.dtype), dt.itemsize_bytes(type)
    if before == after:
        return x.shape
    return (*x.shape, before // after) if before > after else x.shape[:-1]


@kernel("Bitcast", unit="memory", shape=_bitcast_shape, dtypes={"T": dt.NUMBERS | dt.KEYS, "type": dt.NUMBERS | dt.KEYS})
def bitcast(x: Array, /, *, type: str) -> Array:
    """The same bits as another type; a narrower one adds an axis, a wider one takes the last.

    Raises: InvalidArgument when the last axis does not make one element.  Source: TensorFlow op `Bitcast`.
    """
    dtype = dt.to_numpy(type)
    if dtype.itemsize > x.itemsize and (not x.ndim or x.shape[-1] * x.itemsize != dtype.itemsize):
        raise InvalidArgument(f"Cannot bitcast from {x.dtype} to {dtype}: shape {shape_text(x.shape)}")
    shape = _bitcast_shape(Spec(x.shape, x.dtype.name), type=type)
    return np.frombuffer(np.ascontiguousarray(x).tobytes(), dtype).reshape([int(n or 0) for n in shape or ()])


def _unraveled_shape(indices: Spec, dims: Spec, /) -> Shape:
    if indices.shape is None or dims.shape is None:
        return None
    return (dims.shape[0], *indices.shape[:1]) if indices.shape else dims.shape


@kernel("UnravelIndex", unit="vector", shape=_unraveled_shape, dtypes={"Tidx": dt.INDICES})
def unravel_index(indices: Array, dims: Array, /) -> Array:
    """Coordinates of flat places: () or (n,) -> (rank,) or (rank, n).

    Raises: InvalidArgument for a place outside.  Source: TensorFlow op `UnravelIndex`.
    """
    if dims.ndim != 1:
        raise InvalidArgument(f"The indices can only be 1-D, got shape {shape_text(dims.shape)}")
    if (dims == 0).any():
        raise InvalidArgument("dims cannot contain a dim of zero")
    if indices.size and not (indices.min() >= 0 and indices.max() < np.prod(dims, dtype=np.int64)):
        raise InvalidArgument("index is out of bound as with dims")
    made = np.array(np.unravel_index(indices, dims.tolist()), indices.dtype)
    return made.reshape(len(dims), *indices.shape[:1]) if indices.ndim else made


def _empty_shape(shape: Spec, /, **attrs: Any) -> Shape:
    return constant_ints(shape)


@kernel("Empty", unit="memory", shape=_empty_shape, dtypes={"dtype": dt.ALL}, ignores=["init"])
def empty(shape: Array, /, *, dtype: str) -> Array:
    """Zeros, where TensorFlow leaves what was in memory unless asked for them.  Source: TensorFlow op `Empty`."""
    return np.zeros([int(n) for n in shape], dt.to_numpy(dtype))


def _rows_changed(ufunc: np.ufunc | None, x: Array, i: Array, v: Array) -> Array:
    if i.ndim != 1 or v.shape != (len(i), *x.shape[1:]):
        raise InvalidArgument(f"i and x shape doesn't match: {shape_text(x.shape)}, {shape_text(i.shape)}, {shape_text(v.shape)}")
    numbers = np.mod(i, len(x)) if len(x) else i
    check_range(numbers, len(x), "i")
    made = x.copy()
    if ufunc is None:
        made[numbers] = v
    else:
        ufunc.at(made, numbers, v)
    return made


@kernel("InplaceUpdate", unit="memory", shape=same_as(0))
def inplace_update(x: Array, i: Array, v: Array, /) -> Array:
    """x with rows i replaced by v; a number wraps around.  Source: TensorFlow op `InplaceUpdate`."""
    return _rows_changed(None, x, i, v)


@kernel("InplaceAdd", unit="vector", shape=same_as(0), dtypes=dt.NUMBERS)
def inplace_add(x: Array, i: Array, v: Array, /) -> Array:
    """x with v added to rows i.  Source: TensorFlow op `InplaceAdd`."""
    return _rows_changed(np.add, x, i, v)


@kernel("InplaceSub", unit="vector", shape=same_as(0), dtypes=dt.NUMBERS)
def inplace_sub(x: Array, i: Array, v: Array, /) -> Array:
    """x with v subtracted from rows i.  Source: TensorFlow op `InplaceSub`."""
    return _rows_changed(np.subtract, x, i, v)


@kernel("ParallelConcat", unit="memory", shape=lambda *specs, shape: tuple(shape), dtypes=dt.ALL)
def parallel_concat(*values: Array, shape: Sequence[int], out: Array | None = None) -> Array:
    """Values of extent 1 along the first axis, one after the other.  Source: TensorFlow op `ParallelConcat`."""
    made = np.empty(tuple(shape), values[0].dtype) if out is None else out
    return np.concatenate(values, axis=0, out=made)


def _volume_shape(x: Spec, /, *, ksizes: Sequence[int], strides: Sequence[int], padding: str) -> Shape:
    if x.shape is None:
        return None
    spatial = [window_extent(n, k, s, 1, padding)[0] for n, k, s in zip(x.shape[1:4], ksizes[1:4], strides[1:4], strict=True)]
    depth = x.shape[4]
    return (x.shape[0], *spatial, None if depth is None else depth * int(np.prod(ksizes[1:4])))


@kernel("ExtractVolumePatches", unit="memory", shape=_volume_shape, dtypes=dt.NUMBERS)
def extract_volume_patches(x: Array, /, *, ksizes: Sequence[int], strides: Sequence[int], padding: str) -> Array:
    """The voxels of every window side by side in depth: (n, d, h, w, c) -> (n, d', h', w', k * c).

    Source: TensorFlow op `ExtractVolumePatches`.
    """
    edges = [(0, 0)]
    extents = []
    for n, k, s in zip(x.shape[1:4], ksizes[1:4], strides[1:4], strict=True):
        out, before = window_extent(n, k, s, 1, padding)
        extents.append(int(out or 0))
        edges.append((before, max(0, (extents[-1] - 1) * s + k - n - before)))
    padded = np.pad(x, [*edges, (0, 0)])
    made = np.empty((len(x), *extents, *ksizes[1:4], x.shape[4]), x.dtype)
    for tap in itertools.product(*(range(k) for k in ksizes[1:4])):
        window = tuple(slice(t, t + n * s, s) for t, n, s in zip(tap, extents, strides[1:4], strict=True))
        index = (slice(None), *window)
        made[(slice(None),) * 4 + tap] = padded[index][:, : extents[0], : extents[1], : extents[2]]
    return made.reshape(*made.shape[:4], int(np.prod(ksizes[1:4])) * x.shape[4])
