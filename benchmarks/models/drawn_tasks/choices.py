"""Choices that networks of every kind draw: an activation, an optimizer, and whether gradients are clipped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from benchmarks.models.drawn import Draws

_OPTIMIZERS: tuple[Callable[[], Any], ...] = (
    lambda: tf.train.AdamOptimizer(1e-3),
    lambda: tf.train.MomentumOptimizer(1e-3, 0.9),
    lambda: tf.train.RMSPropOptimizer(5e-4, momentum=0.9),
    lambda: tf.train.AdagradOptimizer(1e-2),
)
_ACTIVATIONS: tuple[Callable[[Any], Any], ...] = (tf.nn.relu, tf.nn.elu, tf.nn.tanh, tf.nn.leaky_relu)


def activation(draws: Draws) -> Callable[[Any], Any]:
    return _ACTIVATIONS[draws.one_of(*range(len(_ACTIVATIONS)))]


def training_step(draws: Draws, loss: tf.Tensor) -> tf.Operation:
    """A drawn optimizer's step, after the update ops; half of all clip their gradients by the global norm."""
    optimizer, is_clipped = _OPTIMIZERS[draws.one_of(*range(len(_OPTIMIZERS)))](), draws.one_of(0, 1)
    gradients, variables = zip(*optimizer.compute_gradients(loss), strict=True)
    if is_clipped:
        gradients, _ = tf.clip_by_global_norm(gradients, 5.0)
    # The loss first: a penalty that reads a ref variable may otherwise see what the step made of it.
    with tf.control_dependencies([loss, *tf.get_collection(tf.GraphKeys.UPDATE_OPS)]):
        return optimizer.apply_gradients(list(zip(gradients, variables, strict=True)))


def lengths_of(batch: int, longest: int) -> np.ndarray:
    """Lengths of sentences, int32 (batch,): from half the longest to the longest, which one of them has."""
    found = np.random.default_rng((batch, longest)).integers((longest + 1) // 2, longest + 1, batch)
    found[0] = longest
    return found.astype(np.int32)
