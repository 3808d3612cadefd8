"""Filling, repeating, transposing and reversing arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from npu_runtime.errors import InvalidArgument, Unimplemented
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.array.joining import taken
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.shapes import broadcast_pair, constant_ints, extents_of, same_as
from npu_runtime.kernels.threads.transposing import transpose_into
from npu_runtime.kernels.variable_access import shape_text


def _shape_from(spec: Spec) -> Shape:
    """The shape whose extents are the values of `spec`; a scalar is one extent."""
    return constant_ints(spec) or extents_of(spec)


def _fill_shape(dims: Spec, value: Spec) -> Shape:
    return _shape_from(dims)


@kernel("Fill", unit="memory", shape=_fill_shape)
def fill(dims: np.ndarray, value: np.ndarray, /, *, out: np.ndarray | None = None) -> np.ndarray:
    """A tensor of shape `dims` that holds one value everywhere.

    dims: int vector, or a scalar for one extent.  value: one, of rank 0 or 1.
    Raises: InvalidArgument for another rank or a negative extent.  Source: TensorFlow op `Fill`.
    """
    if dims.ndim > 1:
        raise InvalidArgument(f"dims must represent a vector, got shape {shape_text(dims.shape)}")
    if value.shape not in ((), (1,)):
        raise InvalidArgument(f"value must represent a scalar, got shape {shape_text(value.shape)}")
    extents = dims.reshape(-1).tolist()
    if any(n < 0 for n in extents):
        raise InvalidArgument(f"Dimension {min(extents)} must be >= 0")
    made = np.empty(extents, value.dtype) if out is None else out
    made.fill(value.reshape(())[()])
    return made


@kernel("ZerosLike", unit="memory", shape=same_as(0), inplace=(0,))
def zeros_like(x: np.ndarray, /, *, out: np.ndarray | None = None) -> np.ndarray:
    """Zeros of x's shape and type. Source: TensorFlow op `ZerosLike`."""
    if out is None:
        return np.zeros(x.shape, x.dtype)
    out.fill(0)
    return out


@kernel("OnesLike", unit="memory", shape=same_as(0), inplace=(0,))
def ones_like(x: np.ndarray, /, *, out: np.ndarray | None = None) -> np.ndarray:
    """Ones of x's shape and type. Source: TensorFlow op `OnesLike`."""
    made = np.empty(x.shape, x.dtype) if out is None else out
    made.fill(1)
    return made


def _broadcast_to_shape(x: Spec, shape: Spec) -> Shape:
    return _shape_from(shape)


@kernel("BroadcastTo", unit="memory", shape=_broadcast_to_shape)
def broadcast_to(x: np.ndarray, shape: np.ndarray, /, *, out: np.ndarray | None = None) -> np.ndarray:
    """x repeated along axes of extent 1 until it has the shape.

    Raises: InvalidArgument when it cannot.  Source: TensorFlow op `BroadcastTo`.
    """
    wanted = tuple(shape.tolist())
    if min(wanted, default=0) < 0:
        raise InvalidArgument(f"Dimension {min(wanted)} must be >= 0")
    if x.ndim > len(wanted):
        raise InvalidArgument(f"Rank of input ({x.ndim}) must be no greater than rank of output shape ({len(wanted)}).")
    if broadcast_pair(x.shape, wanted) != wanted:
        raise InvalidArgument(f"Incompatible shapes: {shape_text(x.shape)} vs. {shape_text(wanted)}")
    made = np.empty(wanted, x.dtype) if out is None else out
    np.copyto(made, x)
    return made


def _tile_shape(x: Spec, multiples: Spec) -> Shape:
    times = constant_ints(multiples)
    if x.shape is None or times is None:
        return None if x.shape is None else (None,) * len(x.shape)
    return tuple(0 if m == 0 else None if n is None else n * m for n, m in zip(x.shape, times, strict=True))


def _small_tile(
    inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: Mapping[str, Any], is_planned: bool
) -> Callable[..., Any] | None:
    """See `base.Small`: one copy where only axes of one element are repeated, as where a mask goes over all units of a layer."""
    before, times, after = inputs[0].known_shape(), constant_ints(inputs[1]), outputs[0].known_shape()
    if times is None or len(times) != len(before) or any(m < 0 for m in times):
        return None
    is_spread = all(m == 1 or n == 1 for n, m in zip(before, times, strict=True))
    return partial(_spread, after) if is_spread else None


def _spread(shape: tuple[int, ...], x: np.ndarray, multiples: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """x, which broadcasts to the shape, in an array of its own."""
    made = np.empty(shape, x.dtype) if out is None else out
    np.copyto(made, x)
    return made


@kernel("Tile", unit="memory", shape=_tile_shape, small=_small_tile)
def tile(x: np.ndarray, multiples: np.ndarray, /, *, out: np.ndarray | None = None) -> np.ndarray:
    """x repeated multiples[i] times along axis i.

    multiples: (rank,) int32|int64.  Raises: InvalidArgument for another length or a negative number.
    Source: TensorFlow op `Tile`.
    """
    times = multiples.tolist()
    if len(times) != x.ndim:
        raise InvalidArgument(f"Expected multiples argument to be a vector of length {x.ndim} but got length {len(times)}")
    for axis, m in enumerate(times):
        if m < 0:
            raise InvalidArgument(f"Expected multiples[{axis}] >= 0, but got {m}")
    made = np.empty([n * m for n, m in zip(x.shape, times, strict=True)], x.dtype) if out is None else out
    pairs = [extent for n, m in zip(x.shape, times, strict=True) for extent in (m, n)]
    np.copyto(made.reshape(pairs), x.reshape([extent for n in x.shape for extent in (1, n)]))
    return made


def _transpose_shape(x: Spec, perm: Spec) -> Shape:
    axes = constant_ints(perm)
    if x.shape is None or axes is None:
        return (None,) * len(x.shape) if x.shape is not None else None
    shape = x.shape
    return tuple(shape[axis] for axis in axes)


@kernel("Transpose", "ConjugateTranspose", unit="memory", shape=_transpose_shape)
def transpose(x: np.ndarray, perm: np.ndarray, /, *, out: np.ndarray | None = None) -> np.ndarray:
    """Axis i of the result is axis perm[i] of x.

    Raises: InvalidArgument when perm is no permutation of x's axes.  Source: TensorFlow op `Transpose`.
    """
    axes = perm.tolist()
    if len(axes) != x.ndim:
        raise InvalidArgument(f"transpose expects a vector of size {x.ndim}. But input(1) is a vector of size {len(axes)}")
    for axis in axes:
        if not 0 <= axis < x.ndim:
            raise InvalidArgument(f"{axis} is out of range [0 .. {x.ndim})")
    missing = set(range(x.ndim)).difference(axes)
    if missing:
        raise InvalidArgument(f"{min(missing)} is missing from {{{','.join(map(str, axes))}}}.")
    made = np.empty([x.shape[axis] for axis in axes], x.dtype) if out is None else out
    transpose_into(made, x.transpose(axes))
    return made


@kernel("ReverseV2", unit="memory", shape=same_as(0))
def reverse_v2(x: np.ndarray, axis: np.ndarray, /, *, out: np.ndarray | None = None) -> np.ndarray:
    """x backwards along some axes.

    axis: int vector, from the end when negative.  Raises: InvalidArgument for an axis outside the rank, Unimplemented above
    rank 8.  Source: TensorFlow op `ReverseV2`, which does not look at the axes of a scalar or of nothing.
    """
    if not x.ndim or not x.size:
        return _reversed(x, (), out)
    if axis.ndim != 1:
        raise InvalidArgument(f"'dims' must be 1-dimension, not {axis.ndim}")
    chosen: set[int] = set()
    for k, a in enumerate(axis.tolist()):
        if not -x.ndim <= a < x.ndim:
            raise InvalidArgument(f"'axis'[{k}] = {a} is out of valid range [0, {x.ndim - 1}]")
        if a % x.ndim in chosen:
            raise InvalidArgument(f"axis {a % x.ndim} specified more than once.")
        chosen.add(a % x.ndim)
    return _reversed(x, [a in chosen for a in range(x.ndim)], out)


@kernel("Reverse", unit="memory", shape=same_as(0))
def reverse(x: np.ndarray, dims: np.ndarray, /, *, out: np.ndarray | None = None) -> np.ndarray:
    """x backwards along the axes whose entry of dims is true.

    dims: (rank,) bool.  Raises: InvalidArgument for another shape, Unimplemented above rank 8.
    Source: TensorFlow op `Reverse`, which does not look at the entry of a scalar.
    """
    if x.ndim and dims.ndim != 1:
        raise InvalidArgument(f"'dims' must be 1-dimension, not {dims.ndim}")
    if x.ndim and dims.size != x.ndim:
        raise InvalidArgument(
            "'dims' must have the same number of values as 'input' has dimensions. "
            f"'input' has {x.ndim}'dims' has {dims.size} values"
        )
    return _reversed(x, dims.tolist() if x.ndim else (), out)


def _reversed(x: np.ndarray, is_backwards: Sequence[bool], out: np.ndarray | None) -> np.ndarray:
    if x.ndim > 8 and x.size:
        raise Unimplemented("reverse is not implemented for tensors of rank > 8.")
    index: tuple[Any, ...] = (*(slice(None, None, -1 if b else 1) for b in is_backwards), ...)
    return taken(x[index], out)


@kernel("ReverseSequence", unit="memory", shape=same_as(0))
def reverse_sequence(
    x: np.ndarray, seq_lengths: np.ndarray, /, *, seq_dim: int, batch_dim: int = 0, out: np.ndarray | None = None
) -> np.ndarray:
    """The first seq_lengths[i] entries along seq_dim of batch entry i backwards, the others as they are.

    seq_lengths: (extent of batch_dim,).  Raises: InvalidArgument for a length beyond the extent.
    Source: TensorFlow op `ReverseSequence`.
    """
    if seq_dim == batch_dim:
        raise InvalidArgument(f"batch_dim == seq_dim == {seq_dim}")
    for name, axis in (("seq_dim", seq_dim), ("batch_dim", batch_dim)):
        if axis >= x.ndim:
            raise InvalidArgument(f"{name} must be < input rank ( {axis} vs. {x.ndim})")
    extent, batch = x.shape[seq_dim], x.shape[batch_dim]
    if seq_lengths.shape != (batch,):
        raise InvalidArgument(f"Length of seq_lens != input.dims({batch_dim}), ({seq_lengths.size} vs. {batch})")
    for k, length in enumerate(seq_lengths.tolist()):
        if not 0 <= length <= extent:
            test = "> input" if length > extent else "< 0, input"
            raise InvalidArgument(f"seq_lens({k}) {test}.dims({seq_dim}): {length}, {extent}")
    steps = np.arange(extent)
    lengths = seq_lengths.reshape(-1, 1)
    source = np.where(steps < lengths, lengths - 1 - steps, steps)
    moved = np.moveaxis(x, (batch_dim, seq_dim), (0, 1))
    made = np.empty(x.shape, x.dtype) if out is None else out
    np.moveaxis(made, (batch_dim, seq_dim), (0, 1))[...] = moved[np.arange(batch)[:, None], source]
    return made


def _one_hot_shape(indices: Spec, depth: Spec, on: Spec, off: Spec, *, axis: int = -1) -> Shape:
    n = constant_ints(depth)
    if indices.shape is None:
        return None
    place = len(indices.shape) if axis == -1 else axis
    return (*indices.shape[:place], n[0] if n else None, *indices.shape[place:])


@kernel("OneHot", unit="memory", shape=_one_hot_shape, ranks={"depth": 0, "on_value": 0, "off_value": 0})
def one_hot(
    indices: np.ndarray, depth: np.ndarray, on_value: np.ndarray, off_value: np.ndarray, /, *, axis: int = -1,
    out: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """on_value at each index along a new axis, off_value elsewhere and for an index outside [0, depth).

    indices: integers.  depth, on_value, off_value: scalars.  axis: place of the new axis, -1: last.
    Raises: InvalidArgument for a negative depth or an axis beyond the new rank.  Source: TensorFlow op `OneHot`.
    """
    n, place = int(depth), indices.ndim if axis == -1 else axis
    if place > indices.ndim:
        raise InvalidArgument(f"Expected axis to be -1 or between [0, {indices.ndim + 1}).  But received: {axis}")
    if n < 0:
        raise InvalidArgument(f"depth must be non-negative, got: {n}")
    made = np.empty((*indices.shape[:place], n, *indices.shape[place:]), on_value.dtype) if out is None else out
    made.fill(off_value[()])
    before, after = math.prod(indices.shape[:place]), math.prod(indices.shape[place:])
    flat = indices.reshape(before, after)
    rows, columns = np.nonzero((flat >= 0) & (flat < n))
    made.reshape(before, n, after)[rows, flat[rows, columns], columns] = on_value
    return made
