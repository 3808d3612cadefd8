"""Shapes as values, and the small integer vectors that graphs compute from them."""

from __future__ import annotations

import math

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.shapes import broadcast_pair, constant_ints, same_as, scalar

INDICES = dt.INDICES
SHAPE_TYPES = {"out_type": INDICES}


def _rank_vector(spec: Spec) -> Shape:
    return (spec.rank,)


def _shape_of_shape(x: Spec, *, out_type: str = "int32") -> Shape:
    return _rank_vector(x)


@kernel("Shape", unit="scalar", shape=_shape_of_shape, dtypes=SHAPE_TYPES)
def shape_of(x: np.ndarray, /, *, out_type: str = "int32") -> np.ndarray:
    """The extents of x. Returns: (rank,) int32|int64. Source: TensorFlow op `Shape`."""
    return np.array(x.shape, dt.to_numpy(out_type))


def _shapes_of_shapes(*inputs: Spec, out_type: str = "int32") -> list[Shape]:
    return [_rank_vector(x) for x in inputs]


@kernel("ShapeN", unit="scalar", shape=_shapes_of_shapes, dtypes=SHAPE_TYPES)
def shapes_of(*inputs: np.ndarray, out_type: str = "int32") -> tuple[np.ndarray, ...]:
    """The extents of each input. Source: TensorFlow op `ShapeN`."""
    return tuple(np.array(x.shape, dt.to_numpy(out_type)) for x in inputs)


@kernel("Size", unit="scalar", shape=scalar, dtypes=SHAPE_TYPES)
def size_of(x: np.ndarray, /, *, out_type: str = "int32") -> np.ndarray:
    """The number of elements. Source: TensorFlow op `Size`."""
    return np.array(x.size, dt.to_numpy(out_type))


@kernel("Rank", unit="scalar", shape=scalar)
def rank_of(x: np.ndarray, /) -> np.ndarray:
    """The number of axes. Source: TensorFlow op `Rank`."""
    return np.array(x.ndim, np.int32)


def _broadcast_args_shape(a: Spec, b: Spec) -> Shape:
    if a.shape is None or b.shape is None or None in a.shape or None in b.shape:
        return (None,)
    return (max(a.known_shape()[0], b.known_shape()[0]),)


@kernel("BroadcastArgs", unit="scalar", shape=_broadcast_args_shape, dtypes=INDICES)
def broadcast_args(a: np.ndarray, b: np.ndarray, /) -> np.ndarray:
    """The shape two shapes broadcast to. Raises: InvalidArgument. Source: TensorFlow op `BroadcastArgs`."""
    return np.array(broadcast_pair(tuple(a.tolist()), tuple(b.tolist())), a.dtype)


def _two_vectors(a: Spec, b: Spec) -> list[Shape]:
    if a.value is None or b.value is None:
        return [(None,), (None,)]
    return [(len(axes),) for axes in _axes_to_reduce(a.value, b.value)]


def _axes_to_reduce(a: np.ndarray, b: np.ndarray) -> tuple[list[int], list[int]]:
    """Axes of the broadcast result over which each operand was repeated, or that have extent 1 in both."""
    if a.tobytes() == b.tobytes():
        return [], []
    broadcast_pair(tuple(a.tolist()), tuple(b.tolist()))
    rank = max(a.size, b.size)
    padded_a, padded_b = ([1] * (rank - s.size) + s.tolist() for s in (a, b))
    return (
        [axis for axis in range(rank) if padded_a[axis] == 1],
        [axis for axis in range(rank) if padded_b[axis] == 1],
    )


@kernel("BroadcastGradientArgs", unit="scalar", shape=_two_vectors, dtypes=INDICES)
def broadcast_gradient_args(a: np.ndarray, b: np.ndarray, /) -> tuple[np.ndarray, np.ndarray]:
    """Axes that the gradient of each operand is summed over.

    a, b: shapes as vectors.  Raises: InvalidArgument when they do not fit.  Source: TensorFlow's core/util/bcast.h.
    """
    of_a, of_b = _axes_to_reduce(a, b)
    return np.array(of_a, a.dtype), np.array(of_b, a.dtype)


@kernel("InvertPermutation", unit="scalar", shape=same_as(0), dtypes=INDICES)
def invert_permutation(x: np.ndarray, /) -> np.ndarray:
    """y with y[x[i]] = i. Raises: InvalidArgument when x is no permutation. Source: TensorFlow op `InvertPermutation`."""
    if x.ndim != 1:
        raise InvalidArgument("invert_permutation expects a 1D vector.")
    outside = x[(x < 0) | (x >= x.size)]
    if outside.size:
        raise InvalidArgument(f"{outside[0]} is not between 0 and {x.size}")
    count = np.bincount(x, minlength=x.size)
    if (count > 1).any():
        raise InvalidArgument(f"{int(np.argmax(count > 1))} is duplicated in the input.")
    inverse = np.empty_like(x)
    inverse[x] = np.arange(x.size, dtype=x.dtype)
    return inverse


def _offset_shapes(axis: Spec, *shapes: Spec) -> list[Shape]:
    return [spec.shape for spec in shapes]


@kernel("ConcatOffset", unit="scalar", shape=_offset_shapes, dtypes={"shape_type": INDICES}, ranks={"axis": 0})
def concat_offset(axis: np.ndarray, *shapes: np.ndarray) -> tuple[np.ndarray, ...]:
    """Offset of each tensor in their concatenation.

    axis: scalar.  shapes: vectors of one length.  Returns: one vector a shape, zero but at `axis`.
    Raises: InvalidArgument for an axis outside the rank, or shapes that differ elsewhere.  Source: TensorFlow op `ConcatOffset`.
    """
    first, place = shapes[0].tolist(), int(axis)
    rank = len(first)
    if not -rank <= place < rank:
        raise InvalidArgument(f"Concat dim is out of range: {place} vs. {rank}")
    place %= rank
    offsets = np.zeros((len(shapes), rank), shapes[0].dtype)
    begin = 0
    for number, shape in enumerate(shapes):
        offsets[number, place] = begin
        extents = shape.tolist()
        if extents[:place] != first[:place] or extents[place + 1 :] != first[place + 1 :]:
            raise InvalidArgument(
                f"All dimensions except {place} must match. Input {number} has shape {shape} "
                f"and doesn't match input 0 with shape {shapes[0]}."
            )
        begin += extents[place]
    return tuple(offsets)


def _range_length(start: np.ndarray, limit: np.ndarray, delta: np.ndarray) -> int:
    if delta == 0:
        raise InvalidArgument(f"Requires delta != 0: {delta}")
    if delta > 0 and limit < start:
        raise InvalidArgument(f"Requires start <= limit when delta > 0: {start}/{limit}")
    if delta < 0 and limit > start:
        raise InvalidArgument(f"Requires start >= limit when delta < 0: {start}/{limit}")
    if start.dtype.kind == "i":
        return -(-abs(int(limit) - int(start)) // abs(int(delta)))
    return math.ceil(abs((limit - start) / delta))  # in fp32, as there: its rounding decides on the last element


def _range_shape(start: Spec, limit: Spec, delta: Spec) -> Shape:
    if start.value is None or limit.value is None or delta.value is None:
        return (None,)
    return (_range_length(start.value, limit.value, delta.value),)


@kernel("Range", unit="scalar", shape=_range_shape, dtypes={"Tidx": INDICES | {"float32"}})
def range_of(start: np.ndarray, limit: np.ndarray, delta: np.ndarray, /) -> np.ndarray:
    """start, start + delta, start + 2 * delta, ... before limit.

    Scalars of one type.  Raises: InvalidArgument for delta 0 or of the wrong sign.
    Source: TensorFlow's core/kernels/sequence_ops.cc.
    """
    length = _range_length(start, limit, delta)
    return start + np.arange(length, dtype=start.dtype) * delta


def _lin_space_shape(start: Spec, stop: Spec, num: Spec) -> Shape:
    return constant_ints(num) or (None,)


@kernel("LinSpace", unit="vector", shape=_lin_space_shape, dtypes=frozenset({"float32"}), ranks={"start": 0, "stop": 0, "num": 0})
def lin_space(start: np.ndarray, stop: np.ndarray, num: np.ndarray, /) -> np.ndarray:
    """`num` values evenly from start to stop, both included.

    Raises: InvalidArgument for num < 1.  Source: TensorFlow op `LinSpace`.
    """
    n = int(num)
    if n <= 0:
        raise InvalidArgument(f"Requires num > 0: {n}")
    step = np.float32((stop - start) / np.float32(max(n - 1, 1)))
    values = start + step * np.arange(n, dtype=np.float32)
    values[n - 1 if n > 1 else n :] = stop
    return values
