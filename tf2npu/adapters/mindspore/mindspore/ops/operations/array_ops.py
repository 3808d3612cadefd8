"""Primitives that make, shape, cut and join tensors.  Source of names and attributes: mindspore.cn, r1.1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from mindspore.common.dtype import Type, dtype_of, float32, int32, np_type
from mindspore.common.tensor import Tensor
from mindspore.common.tensor_operators import promoted
from mindspore.ops.operations import _index_ops
from mindspore.ops.operations._index_ops import *
from mindspore.ops.primitive import Primitive, primitive
from npu_bridge.npu_init import tf


class Shape(Primitive):
    """The shape, as a tuple of Python's numbers."""

    def __call__(self, x: Any) -> tuple[int, ...]:
        return tuple(Tensor(x).shape) if not isinstance(x, Tensor) else x.shape


class DType(Primitive):
    """The type of the numbers."""

    def __call__(self, x: Any) -> Type:
        return x.dtype if isinstance(x, Tensor) else Tensor(x).dtype


class Rank(Primitive):
    """The number of axes, as Python's number."""

    def __call__(self, x: Tensor) -> int:
        return len(x.shape)


class Size(Primitive):
    """The number of elements, as Python's number."""

    def __call__(self, x: Tensor) -> int:
        return int(np.prod(x.shape))


class SameTypeShape(Primitive):
    """The first tensor.  Raises: TypeError, ValueError where the second has another type or shape."""

    def __call__(self, x: Tensor, y: Tensor) -> Tensor:
        if x.dtype is not y.dtype:
            raise TypeError(f"SameTypeShape: the types are {x.dtype} and {y.dtype}")
        if x.shape != y.shape:
            raise ValueError(f"SameTypeShape: the shapes are {x.shape} and {y.shape}")
        return x


class IsInstance(Primitive):
    """Whether a tensor has a type, or a value is of a class."""

    def __call__(self, inst: Any, type_: Any) -> bool:
        if isinstance(type_, Type):
            return isinstance(inst, Tensor) and inst.dtype is type_
        return isinstance(inst, type_)


class IsSubClass(Primitive):
    """Whether a type is another, or one of a tuple."""

    def __call__(self, sub_type: Any, type_: Any) -> bool:
        return sub_type in type_ if isinstance(type_, (tuple, list)) else sub_type is type_


class TupleToArray(Primitive):
    """A tensor of the numbers of a tuple: int32 or float32."""

    def __call__(self, x: tuple[Any, ...]) -> Tensor:
        return Tensor(np.array(x, np.int32 if isinstance(x[0], int) else np.float32))


class ScalarToArray(Primitive):
    """A tensor without axes of a number: int32 or float32."""

    def __call__(self, x: Any) -> Tensor:
        return Tensor(np.array(x, np.int32 if isinstance(x, int) else np.float32))


class ScalarToTensor(Primitive):
    """A tensor without axes of a number, of a type."""

    def __call__(self, x: Any, dtype: Type = float32) -> Tensor:
        return Tensor(np.array(x), dtype)


class InvertPermutation(Primitive):
    """The permutation that takes back one, as a tuple of Python's numbers."""

    def __call__(self, x: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(int(place) for place in np.argsort(x))


def _filled(shape: Any, value: float, kind: Any) -> Any:
    return tf.fill((shape,) if isinstance(shape, int) else shape, tf.constant(value, np_type(kind)))


def _fill(kind: Any, shape: Any, value: Any) -> Any:
    value = tf.cast(value, np_type(kind)) if isinstance(value, tf.Tensor) else tf.constant(value, np_type(kind))
    return tf.fill((shape,) if isinstance(shape, int) else shape, tf.reshape(value, ()))


Fill = primitive("Fill", _fill)
Ones = primitive("Ones", lambda shape, kind: _filled(shape, 1, kind))
Zeros = primitive("Zeros", lambda shape, kind: _filled(shape, 0, kind))
OnesLike, ZerosLike = primitive("OnesLike", tf.ones_like), primitive("ZerosLike", tf.zeros_like)
Eye = primitive("Eye", lambda n, m, t: tf.eye(n, m, dtype=tf.as_dtype(np_type(t))))
DynamicShape = primitive("DynamicShape", tf.shape)
Identity = primitive("Identity", tf.identity)


def _cast(x: Any, kind: Any) -> Any:
    return tf.cast(x, np_type(kind)) if isinstance(x, tf.Tensor) else tf.constant(np.asarray(x).astype(np_type(kind)))


Cast = primitive("Cast", _cast)


def _reshaped(x: Any, shape: Any) -> Any:
    shape = (shape,) if isinstance(shape, int) else shape
    whole, known = x.shape.num_elements(), int(np.prod([one for one in shape if one != -1]))
    if whole is not None and (whole % known if -1 in shape else whole != known):
        raise ValueError(
            f"Reshape cannot bring the shape {tuple(x.shape.as_list())} to {tuple(shape)}: {whole} elements do not fit"
        )
    return tf.reshape(x, shape)


Reshape = primitive("Reshape", _reshaped)
ExpandDims = primitive("ExpandDims", lambda x, axis: tf.expand_dims(x, axis))


def _squeezed(x: Any, axis: Any) -> Any:
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    for one in axes:
        if x.shape[one] != 1:
            raise ValueError(f"Squeeze(axis={axis}) takes out axes of one element, and the shape is {tuple(x.shape.as_list())}")
    return tf.squeeze(x, axes or None)


Squeeze = primitive("Squeeze", _squeezed, axis=())
Transpose = primitive("Transpose", lambda x, perm: tf.transpose(x, perm))
Tile = primitive("Tile", lambda x, multiples: tf.tile(_with_axes(x, len(multiples)), multiples))


def _with_axes(x: Any, count: int) -> Any:
    """A tensor with axes of one element before its own, so that it has so many."""
    missing = count - x.shape.rank
    return tf.reshape(x, [1] * missing + x.shape.as_list()) if missing > 0 else x


def _broadcast(x: Any, shape: Any) -> Any:
    missing = len(shape) - x.shape.rank
    wanted = [x.shape[i - missing] if extent == -1 else extent for i, extent in enumerate(shape)]
    return tf.broadcast_to(x, wanted)


BroadcastTo = primitive("BroadcastTo", _broadcast, shape=())


def _joined(values: Any, axis: int) -> Any:
    kind = max((dtype_of(one.dtype) for one in values), key=lambda one: one.rank).nptype
    return tf.concat([tf.cast(one, kind) for one in values], axis)


Concat = primitive("Concat", _joined, axis=0)
ParallelConcat = primitive("ParallelConcat", lambda values: tf.concat(list(values), 0))
Pack = primitive("Pack", lambda values, axis: tf.stack(list(values), axis), axis=0)
Stack = primitive("Stack", lambda values, axis: tf.stack(list(values), axis), axis=0)


def _split(x: Any, axis: int, output_num: int) -> Any:
    extent = x.shape[axis]
    if extent is not None and extent % output_num:
        raise ValueError(f"Split(axis={axis}, output_num={output_num}) does not divide the extent {extent}")
    return tuple(tf.split(x, output_num, axis))


Split = primitive("Split", _split, axis=0, output_num=1)
Unpack = primitive("Unpack", lambda x, axis: tuple(tf.unstack(x, axis=axis)), axis=0)
Unstack = primitive("Unstack", lambda x, axis: tuple(tf.unstack(x, axis=axis)), axis=0)
Slice = primitive("Slice", lambda x, begin, size: tf.slice(x, begin, size))


def _strided(x: Any, begin: Any, end: Any, strides: Any, **masks: int) -> Any:
    return tf.strided_slice(x, begin, end, strides, **masks)


StridedSlice = primitive(
    "StridedSlice", _strided, begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=0
)  # fmt: skip
ReverseV2 = primitive("ReverseV2", lambda x, axis: tf.reverse(x, (axis,) if isinstance(axis, int) else axis), axis=())
ReverseSequence = primitive(
    "ReverseSequence",
    lambda x, lengths, seq_dim, batch_dim: tf.reverse_sequence(x, lengths, seq_axis=seq_dim, batch_axis=batch_dim),
    seq_dim=0, batch_dim=0,
)  # fmt: skip
Meshgrid = primitive("Meshgrid", lambda values, indexing: tuple(tf.meshgrid(*values, indexing=indexing)), indexing="xy")


def _selected(test: Any, x: Any, y: Any) -> Any:
    x, y = promoted(x, y)
    test = tf.cast(test, tf.bool)
    return tf.where_v2(test, x, y)


Select = primitive("Select", _selected)


def _padded(x: Any, pad_dim_size: int) -> Any:
    return tf.pad(x, [[0, 0]] * (x.shape.rank - 1) + [[0, pad_dim_size - x.shape[-1]]])


Padding = primitive("Padding", _padded, pad_dim_size=8)
Diag, DiagPart = primitive("Diag", tf.linalg.tensor_diag), primitive("DiagPart", tf.linalg.tensor_diag_part)


def _places(function: Any) -> Any:
    return lambda x, axis, output_type: function(x, axis, output_type=tf.as_dtype(np_type(output_type)))


Argmax = primitive("Argmax", _places(tf.argmax), axis=-1, output_type=int32)
Argmin = primitive("Argmin", _places(tf.argmin), axis=-1, output_type=int32)


def _place_and_value(place: Any, value: Any) -> Any:
    def found(x: Any, axis: int, keep_dims: bool) -> Any:
        index = place(x, axis, output_type=tf.int32)
        return tf.expand_dims(index, axis) if keep_dims else index, value(x, axis, keepdims=keep_dims)

    return found


ArgMaxWithValue = primitive("ArgMaxWithValue", _place_and_value(tf.argmax, tf.reduce_max), axis=0, keep_dims=False)
ArgMinWithValue = primitive("ArgMinWithValue", _place_and_value(tf.argmin, tf.reduce_min), axis=0, keep_dims=False)


def _sorted(x: Any, axis: int, descending: bool) -> Any:
    direction = "DESCENDING" if descending else "ASCENDING"
    places = tf.argsort(x, axis, direction, stable=True)
    return tf.sort(x, axis, direction), places


Sort = primitive("Sort", _sorted, axis=-1, descending=False)


def _resized_nearest(x: Any, size: Any, align_corners: bool) -> Any:
    images = tf.transpose(x, (0, 2, 3, 1))
    return tf.transpose(tf.image.resize_nearest_neighbor(images, size, align_corners=align_corners), (0, 3, 1, 2))


ResizeNearestNeighbor = primitive("ResizeNearestNeighbor", _resized_nearest, size=(), align_corners=False)


def _space_to_depth(x: Any, block_size: int) -> Any:
    n, c, h, w = x.shape.as_list()
    cut = tf.reshape(x, (n, c, h // block_size, block_size, w // block_size, block_size))
    return tf.reshape(tf.transpose(cut, (0, 3, 5, 1, 2, 4)), (n, c * block_size**2, h // block_size, w // block_size))


def _depth_to_space(x: Any, block_size: int) -> Any:
    n, c, h, w = x.shape.as_list()
    cut = tf.reshape(x, (n, block_size, block_size, c // block_size**2, h, w))
    return tf.reshape(tf.transpose(cut, (0, 3, 4, 1, 5, 2)), (n, c // block_size**2, h * block_size, w * block_size))


def _batched(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of TensorFlow's over blocks of images, whose channels stand last there."""

    def whole(x: Any, block: Any, edges: Any) -> Any:
        block = (block, block) if isinstance(block, int) else tuple(block)[-2:]
        return tf.transpose(function(tf.transpose(x, (0, 2, 3, 1)), block, edges), (0, 3, 1, 2))

    return whole


_to_batch, _from_batch = _batched(tf.space_to_batch_nd), _batched(tf.batch_to_space_nd)
SpaceToBatch = primitive(
    "SpaceToBatch", lambda x, block_size, paddings: _to_batch(x, block_size, paddings), block_size=2, paddings=()
)
BatchToSpace = primitive("BatchToSpace", lambda x, block_size, crops: _from_batch(x, block_size, crops), block_size=2, crops=())
SpaceToBatchND = primitive(
    "SpaceToBatchND", lambda x, block_shape, paddings: _to_batch(x, block_shape, paddings), block_shape=2, paddings=()
)
BatchToSpaceND = primitive(
    "BatchToSpaceND", lambda x, block_shape, crops: _from_batch(x, block_shape, crops), block_shape=2, crops=()
)
SpaceToDepth = primitive("SpaceToDepth", _space_to_depth, block_size=2)
DepthToSpace = primitive("DepthToSpace", _depth_to_space, block_size=2)


class TruncatedNormal(Primitive):
    """Normal numbers of a shape; those beyond two deviations are drawn again."""

    defaults = (("seed", 0), ("dtype", float32))

    def __call__(self, shape: Any) -> Tensor:
        from mindspore.ops.operations._draws import drawn

        kind = tf.as_dtype(np_type(self.attrs["dtype"]))
        return drawn(self, lambda shape, seed: tf.truncated_normal(shape, dtype=kind, seed=seed), shape)


def _unique(x: Any) -> Any:
    found = tf.unique(x)
    return found.y, found.idx


Unique = primitive("Unique", _unique)


__all__ = [
    "BatchToSpace", "BatchToSpaceND", "SpaceToBatch", "SpaceToBatchND", "ArgMaxWithValue", "ArgMinWithValue", "Argmax",
    "Argmin", "BroadcastTo", "Cast", "Concat", "DType", "DepthToSpace", "Diag", "DiagPart", "DynamicShape", "ExpandDims",
    "Eye", "Fill", "Identity", "InvertPermutation", "IsInstance", "IsSubClass", "Meshgrid", "Ones", "OnesLike", "Pack",
    "Padding", "ParallelConcat", "Rank", "Reshape", "ResizeNearestNeighbor", "ReverseSequence", "ReverseV2",
    "SameTypeShape", "ScalarToArray", "ScalarToTensor", "Select", "Shape", "Size", "Slice", "Sort", "SpaceToDepth", "Split",
    "Squeeze", "Stack", "StridedSlice", "Tile", "Transpose", "TruncatedNormal", "TupleToArray", "Unique", "Unpack",
    "Unstack", "Zeros", "ZerosLike", *_index_ops.__all__,
]  # fmt: skip
