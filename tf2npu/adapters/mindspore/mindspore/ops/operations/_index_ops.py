"""Primitives that read and write at places which tensors name: gather, scatter, segments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore.ops.primitive import Primitive, WritingPrimitive, primitive
from npu_bridge.npu_init import tf


def _gathered(params: Any, indices: Any, axis: int) -> Any:
    """The slices at indices.  Places outside are zeros on the card; here they are an error of TensorFlow's."""
    return tf.gather(params, indices, axis=axis)


Gather, GatherV2, SparseGatherV2 = (primitive(name, _gathered) for name in ("Gather", "GatherV2", "SparseGatherV2"))
GatherNd = primitive("GatherNd", lambda x, indices: tf.gather_nd(x, indices))


def _gathered_along(x: Any, dim: int, index: Any) -> Any:
    """x at an index for each element along an axis: gather_nd with the places of all other axes."""
    axes = tf.meshgrid(*[tf.range(extent) for extent in index.shape.as_list()], indexing="ij")
    axes[dim] = tf.cast(index, tf.int32)
    return tf.gather_nd(x, tf.stack(axes, -1))


GatherD = primitive("GatherD", _gathered_along)


def _looked_up(params: Any, indices: Any, offset: int) -> Any:
    """Rows at indices - offset; a row of zeros for a place outside.  Source: EmbeddingLookup of mindspore.cn."""
    places = indices - offset
    inside = tf.logical_and(places >= 0, places < params.shape[0])
    rows = tf.gather(params, tf.where_v2(inside, places, tf.zeros_like(places)))
    inside = tf.reshape(inside, [*inside.shape.as_list(), *[1] * (params.shape.rank - 1)])
    return tf.where_v2(inside, rows, tf.zeros_like(rows))


EmbeddingLookup = primitive("EmbeddingLookup", _looked_up)
ScatterNd = primitive("ScatterNd", lambda indices, update, shape: tf.scatter_nd(indices, update, shape))
TensorScatterUpdate = primitive("TensorScatterUpdate", lambda x, indices, update: tf.tensor_scatter_nd_update(x, indices, update))


def _updated_rows(x: Any, value: Any, indices: Any) -> Any:
    rows = [[one] for one in ((indices,) if isinstance(indices, int) else indices)]
    return tf.tensor_scatter_nd_update(x, rows, value)


InplaceUpdate = primitive("InplaceUpdate", _updated_rows, indices=())
UnsortedSegmentSum, UnsortedSegmentMin, UnsortedSegmentMax, UnsortedSegmentProd = (
    primitive(name, function)
    for name, function in (
        ("UnsortedSegmentSum", lambda x, ids, number: tf.math.unsorted_segment_sum(x, ids, number)),
        ("UnsortedSegmentMin", lambda x, ids, number: tf.math.unsorted_segment_min(x, ids, number)),
        ("UnsortedSegmentMax", lambda x, ids, number: tf.math.unsorted_segment_max(x, ids, number)),
        ("UnsortedSegmentProd", lambda x, ids, number: tf.math.unsorted_segment_prod(x, ids, number)),
    )
)


def _scatter(name: str, function: Callable[[Any, Any, Any], Any]) -> type[Primitive]:
    """A primitive that writes a parameter at places: its new value is what a function makes of value, indices and updates."""

    def write(self: WritingPrimitive, variables: list[Any], *nodes: Any, **attrs: Any) -> Any:
        old, (indices, updates) = variables[0].read_value(), nodes
        return variables[0].assign(function(old, indices, tf.cast(updates, old.dtype)))

    defaults = (("use_locking", True),)
    return type(name, (WritingPrimitive,), {"defaults": defaults, "write": write, "__module__": "mindspore.ops"})


def _of_rows(function: Callable[[Any, Any, Any], Any]) -> Callable[[Any, Any, Any], Any]:
    """A function of rows: an index for each update, whatever axes the indices have."""

    def whole(old: Any, indices: Any, updates: Any) -> Any:
        flat = tf.reshape(indices, (-1, 1))
        return function(old, flat, tf.reshape(updates, (flat.shape[0], *old.shape.as_list()[1:])))

    return whole


def _multiplied(old: Any, indices: Any, updates: Any) -> Any:
    """The product with all updates of a row: each is 1 where there are none."""
    rows = tf.math.unsorted_segment_prod(updates, tf.reshape(indices, (-1,)), old.shape[0])
    return old * rows


def _divided(old: Any, indices: Any, updates: Any) -> Any:
    rows = tf.math.unsorted_segment_prod(updates, tf.reshape(indices, (-1,)), old.shape[0])
    return old / rows if old.dtype.is_floating else tf.truncatediv(old, rows)


ScatterUpdate = _scatter("ScatterUpdate", _of_rows(tf.tensor_scatter_nd_update))
ScatterAdd, ScatterSub = (
    _scatter("ScatterAdd", _of_rows(tf.tensor_scatter_nd_add)), _scatter("ScatterSub", _of_rows(tf.tensor_scatter_nd_sub)),
)  # fmt: skip
ScatterMax, ScatterMin = (
    _scatter("ScatterMax", _of_rows(tf.tensor_scatter_nd_max)), _scatter("ScatterMin", _of_rows(tf.tensor_scatter_nd_min)),
)  # fmt: skip
ScatterMul, ScatterDiv = _scatter("ScatterMul", _of_rows(_multiplied)), _scatter("ScatterDiv", _of_rows(_divided))
ScatterNdUpdate, ScatterNdAdd, ScatterNdSub, ScatterNonAliasingAdd = (
    _scatter("ScatterNdUpdate", tf.tensor_scatter_nd_update), _scatter("ScatterNdAdd", tf.tensor_scatter_nd_add),
    _scatter("ScatterNdSub", tf.tensor_scatter_nd_sub), _scatter("ScatterNonAliasingAdd", tf.tensor_scatter_nd_add),
)  # fmt: skip

__all__ = [
    "EmbeddingLookup", "Gather", "GatherD", "GatherNd", "GatherV2", "InplaceUpdate", "ScatterAdd", "ScatterDiv",
    "ScatterMax", "ScatterMin", "ScatterMul", "ScatterNd", "ScatterNdAdd", "ScatterNdSub", "ScatterNdUpdate",
    "ScatterNonAliasingAdd", "ScatterSub", "ScatterUpdate", "SparseGatherV2", "TensorScatterUpdate", "UnsortedSegmentMax",
    "UnsortedSegmentMin", "UnsortedSegmentProd", "UnsortedSegmentSum",
]  # fmt: skip
