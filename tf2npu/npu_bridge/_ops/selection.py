"""Coordinates, scatter, clustering, layer normalisation and learned leaks."""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf


def centralization(x: tf.Tensor, axes: Sequence[int], name: str | None = None) -> tf.Tensor:
    """``x`` minus its mean over ``axes``."""
    with tf.name_scope(name, "Centralization"):
        return x - tf.reduce_mean(x, axis=list(axes), keepdims=True)


def prelu(x: tf.Tensor, weight: tf.Tensor) -> tf.Tensor:
    """``x`` where it is positive, else ``weight`` times ``x``; weight: a scalar, or one for each last-axis element."""
    return tf.nn.relu(x) - weight * tf.nn.relu(-x)


def layer_norm(
    x: tf.Tensor,
    gamma: tf.Tensor,
    beta: tf.Tensor,
    begin_norm_axis: int = 0,
    begin_params_axis: int = 0,
    epsilon: float = 1e-07,
    name: str | None = None,
) -> list[tf.Tensor]:
    """Normalise over the axes from ``begin_norm_axis`` on, then scale by gamma and shift by beta.

    Returns: [result, mean, variance], the last two with 1 in the place of the normalised axes.
    """
    with tf.name_scope(name, "LayerNorm"):
        x = tf.convert_to_tensor(x)
        first = begin_norm_axis % x.shape.ndims
        mean, variance = tf.nn.moments(x, list(range(first, x.shape.ndims)), keep_dims=True)
        normal = (x - mean) * tf.rsqrt(variance + epsilon)
        return [normal * gamma + beta, mean, variance]


def nonzero(x: tf.Tensor, transpose: bool = False, output_type: tf.DType = tf.int64, name: str | None = None) -> tf.Tensor:
    """Coordinates of the elements that are not 0: [count, rank], or [rank, count] with ``transpose``."""
    with tf.name_scope(name, "NonZero"):
        rows = tf.cast(tf.where(tf.not_equal(x, tf.zeros([], x.dtype))), output_type)
        return tf.transpose(rows) if transpose else rows


def nonzerowithvalue(
    x: tf.Tensor, transpose: bool = False, output_type: tf.DType = tf.int64, name: str | None = None
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Values that are not 0, their coordinates as ``nonzero`` gives them, and how many there are."""
    with tf.name_scope(name, "NonZeroWithValue"):
        rows = tf.where(tf.not_equal(x, tf.zeros([], x.dtype)))
        index = tf.cast(tf.transpose(rows) if transpose else rows, output_type)
        return tf.gather_nd(x, rows), index, tf.cast(tf.shape(rows)[0], output_type)


def scatter_elements(
    data: tf.Tensor, indices: tf.Tensor, updates: tf.Tensor, axis: int = 0, name: str | None = None
) -> tf.Tensor:
    """``data`` with ``updates`` put where ``indices`` say along ``axis``.  Source: ONNX operator ScatterElements."""
    with tf.name_scope(name, "ScatterElements"):
        data, indices = tf.convert_to_tensor(data), tf.cast(indices, tf.int64)
        rank = data.shape.ndims
        axis = axis % rank
        shape = tf.shape(indices, out_type=tf.int64)
        places = list(tf.meshgrid(*[tf.range(shape[d]) for d in range(rank)], indexing="ij"))
        size = tf.shape(data, out_type=tf.int64)[axis]
        places[axis] = tf.where(indices < 0, indices + size, indices)
        return tf.tensor_scatter_nd_update(data, tf.stack(places, axis=-1), updates)


def k_means_centroids(
    x: tf.Tensor,
    y: tf.Tensor,
    sum_square_y: tf.Tensor,
    sum_square_x: tf.Tensor,
    use_actual_distance: bool = False,
    name: str | None = None,
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """One pass of k-means over rows x [n, d] with centres y [k, d].

    sum_square_y: [1, k]; sum_square_x: [n, 1], used only for actual distances.
    Returns: sum of the rows of each centre [k, d], their number [k, 1], the total distance [1].
    """
    with tf.name_scope(name, "KMeansCentroids"):
        distance = sum_square_y - 2.0 * tf.matmul(x, y, transpose_b=True)
        if use_actual_distance:
            distance += sum_square_x
        nearest = tf.one_hot(tf.argmin(distance, axis=1), tf.shape(y)[0], dtype=x.dtype)
        sums = tf.matmul(nearest, x, transpose_a=True)
        counts = tf.reshape(tf.reduce_sum(nearest, axis=0), [-1, 1])
        return sums, counts, tf.reshape(tf.reduce_sum(tf.reduce_min(distance, axis=1)), [1])
