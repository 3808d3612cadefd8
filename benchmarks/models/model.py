"""A benchmark model: a training graph with its fetches and feeds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf


@dataclass(frozen=True)
class Model:
    """A built training graph: what one step fetches, and what it is fed."""

    loss: tf.Tensor
    train: tf.Operation
    feeds: dict[tf.Tensor, np.ndarray]


Build = Callable[[], Model]


def numbers(*shape: int) -> np.ndarray:
    """Normal fp32 of a shape."""
    return np.random.default_rng(shape).standard_normal(shape).astype(np.float32)


def integers(limit: int, *shape: int) -> np.ndarray:
    """int32 in [0, limit) of a shape."""
    return np.random.default_rng((limit, *shape)).integers(0, limit, shape).astype(np.int32)


def classifier(images: tf.Tensor, logits: tf.Tensor, n_classes: int, optimizer: Any) -> Model:
    """Softmax cross-entropy on random labels, update ops before the step."""
    batch = int(images.shape[0])
    target = tf.placeholder(tf.int32, [batch])
    loss = tf.losses.sparse_softmax_cross_entropy(target, logits)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train = optimizer.minimize(loss)
    return Model(loss, train, {images: numbers(*images.shape.as_list()), target: integers(n_classes, batch)})
