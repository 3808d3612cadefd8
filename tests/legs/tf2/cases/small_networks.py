"""The small networks that the cases of training use, and what is looked at behind it."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

random = np.random.RandomState(1)
X, Y = random.rand(32, 6).astype(np.float32), random.rand(32, 2).astype(np.float32)


def network(optimizer: Any = None, **settings: Any) -> tf.keras.Model:
    """Two layers and a loss. SGD, as small differences grow little with it."""
    layers = [tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(2)]
    model = tf.keras.Sequential([tf.keras.Input((6,)), *layers])
    model.compile(optimizer or tf.keras.optimizers.SGD(0.05, momentum=0.9), "mse", **settings)
    return model


def fit(model: tf.keras.Model, **settings: Any) -> list[float]:
    """One epoch of four batches.  Returns: the losses of epochs."""
    return model.fit(X, Y, **{"batch_size": 8, "shuffle": False, "verbose": 0, **settings}).history["loss"]


def weights(model: tf.keras.Model) -> list[np.ndarray]:
    return model.get_weights()
