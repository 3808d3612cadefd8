"""``tf.contrib.resampler``: values of pictures between their points, for which TensorFlow 1.15 had operations of its own."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = ["resampler"]


def resampler(data: Any, warp: Any, name: str = "resampler") -> tf.Tensor:
    """data (batch, height, width, channels) at the places warp (batch, ..., 2), each x and y: (batch, ..., channels), bilinear.

    What lies outside counts as zero; places a whole step outside, or not a number, are zero and have no gradient.
    Source: contrib/resampler/kernels/resampler_ops.cc of TensorFlow 1.15.

    Raises: ValueError for another rank or last dimension; a step raises InvalidArgumentError where only it can tell.
    """
    with tf.name_scope(name, "resampler", [data, warp]):
        data = tf.convert_to_tensor(data, name="data")
        warp = tf.convert_to_tensor(warp, name="warp")
        data.shape.with_rank(4)
        result = _between(data, _that_fits(data, warp))
        result.set_shape(warp.shape[:-1].concatenate(data.shape[3:]))
        return result


def _that_fits(data: tf.Tensor, warp: tf.Tensor) -> tf.Tensor:
    """warp, of the same batch and with two numbers at each place."""
    places = warp.shape.with_rank_at_least(2)
    data.shape[:1].assert_is_compatible_with(places[:1])
    places[-1:].assert_is_compatible_with([2])
    if None not in (*data.shape[:1].as_list(), *places[:1].as_list(), *places[-1:].as_list()):
        return warp
    sizes = tf.shape(warp)
    same = tf.assert_equal(
        tf.stack([sizes[0], sizes[-1]]), tf.stack([tf.shape(data)[0], 2]), message="data and warp of resampler"
    )
    with tf.control_dependencies([same]):
        return tf.identity(warp)


def _between(data: tf.Tensor, warp: tf.Tensor) -> tf.Tensor:
    x, y = warp[..., 0], warp[..., 1]
    height, width = (tf.cast(size, warp.dtype) for size in (tf.shape(data)[1], tf.shape(data)[2]))
    is_near = (x > -1) & (y > -1) & (x < width) & (y < height)
    x, y = (tf.where(is_near, part, tf.zeros_like(part)) for part in (x, y))
    left, top = tf.floor(x), tf.floor(y)
    corners = [
        (left, top, (left + 1 - x) * (top + 1 - y)), (left + 1, top + 1, (x - left) * (y - top)),
        (left, top + 1, (left + 1 - x) * (y - top)), (left + 1, top, (x - left) * (top + 1 - y)),
    ]  # fmt: skip
    found = tf.add_n([weight[..., None] * _at(data, column, row) for column, row, weight in corners])
    return tf.where(_wide(is_near, found), found, tf.zeros_like(found))


def _at(data: tf.Tensor, column: tf.Tensor, row: tf.Tensor) -> tf.Tensor:
    """The points themselves, zero outside."""
    height, width = tf.shape(data)[1], tf.shape(data)[2]
    column, row = tf.cast(column, tf.int32), tf.cast(row, tf.int32)
    is_inside = (column >= 0) & (row >= 0) & (column < width) & (row < height)
    batch = tf.reshape(tf.range(tf.shape(data)[0]), tf.concat([[-1], tf.ones([tf.rank(row) - 1], tf.int32)], 0))
    places = [batch + tf.zeros_like(row), *(tf.where(is_inside, part, tf.zeros_like(part)) for part in (row, column))]
    found = tf.gather_nd(data, tf.stack(places, axis=-1))
    return tf.where(_wide(is_inside, found), found, tf.zeros_like(found))


def _wide(condition: tf.Tensor, like: tf.Tensor) -> tf.Tensor:
    """A condition (...) for each channel of (..., channels), as TF 1.15's `where` has no broadcasting."""
    return condition[..., None] & tf.ones_like(like, tf.bool)
