"""``tf.contrib.nn``: what TensorFlow carries on, and losses with their arguments the old way round."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tensorflow.nn import conv1d_transpose
from tensorflow.python.ops.nn_ops import nth_element

__all__ = [
    "alpha_dropout", "conv1d_transpose", "deprecated_flipped_sigmoid_cross_entropy_with_logits",
    "deprecated_flipped_softmax_cross_entropy_with_logits", "deprecated_flipped_sparse_softmax_cross_entropy_with_logits",
    "nth_element", "scaled_softplus",
]  # fmt: skip
_SELU_FLOOR = -1.7580993408473766
"""Limit of SELU for very negative inputs: minus its scale times its alpha."""


def alpha_dropout(x: Any, keep_prob: Any, noise_shape: Any = None, seed: int | None = None, name: str | None = None) -> tf.Tensor:
    """Dropout that keeps mean and variance of a SELU network (Klambauer et al.).

    Raises: ValueError for keep_prob outside (0, 1].
    """
    with tf.name_scope(name, "alpha_dropout", [x]):
        x = tf.convert_to_tensor(x, name="x")
        if isinstance(keep_prob, int | float) and not 0 < keep_prob <= 1.0:
            raise ValueError(f"keep_prob must be a scalar tensor or a float in the range (0, 1], got {keep_prob:g}")
        keep = tf.convert_to_tensor(keep_prob, dtype=x.dtype, name="keep_prob")
        if tf.get_static_value(keep) == 1:
            return x
        shape = tf.shape(x) if noise_shape is None else noise_shape
        kept = tf.cast(tf.random_uniform(shape, seed=seed, dtype=x.dtype) >= 1 - keep, x.dtype)
        scale = (keep + keep * (1 - keep) * _SELU_FLOOR**2) ** -0.5
        return scale * (x * kept + _SELU_FLOOR * (1 - kept)) - scale * _SELU_FLOOR * (1 - keep)


def scaled_softplus(x: Any, alpha: Any, clip: Any = None, name: str | None = None) -> tf.Tensor:
    """alpha * softplus(x / alpha), not above ``clip``."""
    with tf.name_scope(name, "scaled_softplus", [x, alpha]):
        scaled = alpha * tf.nn.softplus(x / alpha)
        return scaled if clip is None else tf.minimum(scaled, clip)


def deprecated_flipped_softmax_cross_entropy_with_logits(
    logits: Any, labels: Any, dim: int = -1, name: str | None = None
) -> tf.Tensor:
    """Softmax cross entropy with logits first."""
    return tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits, dim=dim, name=name)


def deprecated_flipped_sparse_softmax_cross_entropy_with_logits(logits: Any, labels: Any, name: str | None = None) -> tf.Tensor:
    """Softmax cross entropy for class numbers, with logits first."""
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name=name)


def deprecated_flipped_sigmoid_cross_entropy_with_logits(logits: Any, targets: Any, name: str | None = None) -> tf.Tensor:
    """Sigmoid cross entropy with logits first."""
    return tf.nn.sigmoid_cross_entropy_with_logits(labels=targets, logits=logits, name=name)
