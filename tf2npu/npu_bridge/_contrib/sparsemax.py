"""``tf.contrib.sparsemax``: softmax's sparse relative (Martins and Astudillo) and its loss."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = ["sparsemax", "sparsemax_loss"]


def sparsemax(logits: Any, name: str | None = None) -> tf.Tensor:
    """The nearest point of the simplex to each row of logits (n, classes); NaN for rows that are not finite."""
    with tf.name_scope(name, "sparsemax", [logits]):
        z = tf.convert_to_tensor(logits, name="logits")
        n_rows, n_classes = tf.shape(z)[0], tf.shape(z)[1]
        ordered, _ = tf.nn.top_k(z, k=n_classes)
        sums = tf.cumsum(ordered, axis=1)
        counts = tf.range(1, tf.cast(n_classes, z.dtype) + 1, dtype=z.dtype)
        support = tf.reduce_sum(tf.cast(1 + counts * ordered > sums, tf.int32), axis=1)
        at = tf.stack([tf.range(n_rows), tf.maximum(support, 1) - 1], axis=1)
        threshold = (tf.gather_nd(sums, at) - 1) / tf.cast(support, z.dtype)
        point = tf.maximum(tf.cast(0, z.dtype), z - threshold[:, None])
        is_bad = tf.logical_or(tf.equal(support, 0), tf.is_nan(sums[:, -1]))
        return tf.where(is_bad, tf.fill([n_rows, n_classes], tf.cast(float("nan"), z.dtype)), point)


def sparsemax_loss(logits: Any, sparsemax: Any, labels: Any, name: str | None = None) -> tf.Tensor:
    """The loss (n,) whose gradient is sparsemax minus labels."""
    with tf.name_scope(name, "sparsemax_loss", [logits, sparsemax, labels]):
        z, p, q = (tf.convert_to_tensor(value) for value in (logits, sparsemax, labels))
        counts = tf.logical_or(p > 0, tf.is_nan(p))
        own = tf.where(counts, p * (z - 0.5 * p), tf.zeros_like(p))
        others = q * (0.5 * q - z)
        others = tf.where(tf.logical_and(tf.equal(q, 0), tf.is_inf(z)), tf.zeros_like(z), others)
        return tf.reduce_sum(own + others, axis=1)
