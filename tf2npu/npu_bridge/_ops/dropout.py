"""Dropout by keep probability."""

from __future__ import annotations

import numbers
from collections.abc import Sequence

import tensorflow as tf
from tensorflow.python.framework import random_seed


def dropout(
    x: tf.Tensor,
    keep_prob: float | tf.Tensor,
    noise_shape: tf.Tensor | Sequence[int] | None = None,
    seed: int | None = None,
    name: str | None = None,
) -> tf.Tensor:
    """Keep each element with probability ``keep_prob`` and multiply what is kept by 1 / keep_prob, else give 0.

    x: any shape, floating.  noise_shape: shape of the mask, broadcast over x.
    The Python float 1.0 gives back ``x`` itself; the integer 1 and tensors build operations.
    Raises: RuntimeError in eager execution; ValueError for an x that is not floating or a number outside (0, 1].
    Source: TensorFlow's ``tf.nn.dropout``, whose operations and seed handling it shares, so equal seeds give equal masks.
    """
    if tf.executing_eagerly():
        raise RuntimeError("npu_ops.dropout works in graph mode only; use tf.nn.dropout in eager execution")
    return masked(x, keep_prob, noise_shape, seed, name)


def masked(
    x: tf.Tensor,
    keep_prob: float | tf.Tensor,
    noise_shape: tf.Tensor | Sequence[int] | None,
    seed: int | None,
    name: str | None,
) -> tf.Tensor:
    """Dropout in graph and in eager mode, with the checks of ``dropout``."""
    original = x
    x = tf.convert_to_tensor(x, name="x")
    if not x.dtype.is_floating:
        raise ValueError(f"dropout needs a floating tensor, {x.name if hasattr(x, 'name') else 'x'} is {x.dtype.name}")
    if isinstance(keep_prob, numbers.Real) and not 0 < keep_prob <= 1:
        raise ValueError(f"keep_prob must be in (0, 1], got {keep_prob}; it is the probability to keep, not to drop")
    if isinstance(keep_prob, float) and keep_prob == 1.0:
        return original
    if isinstance(keep_prob, numbers.Real) and keep_prob == 1:
        keep_prob = tf.constant(1.0, x.dtype)
    return tf.nn.dropout(x, keep_prob=keep_prob, noise_shape=noise_shape, seed=seed, name=name)


def get_seed(op_seed: int | None) -> tuple[int, int]:
    """The graph-level and the op-level seed that an operation with ``op_seed`` would get; 0, 0 for none."""
    graph_seed, own_seed = random_seed.get_seed(op_seed)
    return graph_seed or 0, own_seed or 0


def gen_mask(
    shape: tf.Tensor | Sequence[int], prob: float | tf.Tensor, seed: int = 0, seed2: int = 0, name: str | None = None
) -> tf.Tensor:
    """A random bit mask for ``do_mask``: uint8, ceil(n / 128) * 16 bytes for n elements, lowest bit first.

    prob: probability that a bit is 1.
    """
    with tf.name_scope(name, "DropOutGenMask"):
        count = tf.reduce_prod(tf.cast(shape, tf.int64))
        padded = (count + 127) // 128 * 128
        uniform = tf.raw_ops.RandomUniform(shape=tf.reshape(padded, [1]), dtype=tf.float32, seed=seed, seed2=seed2)
        bits = tf.reshape(tf.cast(uniform < tf.cast(prob, tf.float32), tf.int32), [-1, 8])
        return tf.cast(tf.reduce_sum(bits * tf.constant([1, 2, 4, 8, 16, 32, 64, 128]), axis=1), tf.uint8)


def do_mask(x: tf.Tensor, mask: tf.Tensor, keep_prob: float | tf.Tensor, name: str | None = None) -> tf.Tensor:
    """Apply a mask of ``gen_mask``: kept elements are multiplied by 1 / keep_prob.

    x: any shape, floating.  mask: uint8, at least one bit an element.
    """
    with tf.name_scope(name, "DropOutDoMask"):
        x = tf.convert_to_tensor(x)
        weights = tf.constant([1, 2, 4, 8, 16, 32, 64, 128])
        bits = tf.reshape(tf.bitwise.bitwise_and(tf.cast(mask, tf.int32)[:, None], weights), [-1])
        kept = tf.reshape(bits[: tf.size(x)] > 0, tf.shape(x))
        result = x / tf.cast(keep_prob, x.dtype) * tf.cast(kept, x.dtype)
        result.set_shape(x.shape)
        return result
