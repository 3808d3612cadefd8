"""Parts that random networks share: choices by a seed that are noted down, activations, and the end of a training graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import tensorflow.compat.v1 as tf

from tests.graphs.training import Feeds

Choice = TypeVar("Choice")
Tensor = Any


class Draw:
    """Choices by a seed.  notes: the network in words, in the order in which it was made."""

    def __init__(self, seed: int) -> None:
        self.seed, self.random, self.notes = seed, np.random.default_rng(seed), [f"seed {seed}"]

    def one_of(self, choices: Sequence[Choice]) -> Choice:
        return choices[self.integer(0, len(choices) - 1)]

    def integer(self, low: int, high: int) -> int:
        """From low to high, both included."""
        return int(self.random.integers(low, high + 1))

    def chance(self, probability: float) -> bool:
        return bool(self.random.random() < probability)

    def named(self, choices: dict[str, Choice], in_turn: bool = False) -> Choice:
        """One of the values; its name is noted.  in_turn: the next seed has the next one, so that a few seeds have all."""
        name = list(choices)[self.seed % len(choices)] if in_turn else self.one_of(list(choices))
        self.notes.append(name)
        return choices[name]


@dataclass
class Network:
    """train: the operation of a step.  outputs: what a step fetches, by name.  feeds(i): what step i is fed."""

    train: Any
    outputs: dict[str, Tensor]
    feeds: Callable[[int], Feeds]
    description: str


def gelu(x: Tensor) -> Tensor:
    return 0.5 * x * (1.0 + tf.tanh(0.7978846 * (x + 0.044715 * tf.pow(x, 3))))


def prelu(x: Tensor) -> Tensor:
    with tf.variable_scope(None, "prelu"):
        slope = tf.get_variable("slope", x.shape[-1:], initializer=tf.constant_initializer(0.25))
    return tf.nn.relu(x) + slope * (x - tf.abs(x)) * 0.5


ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": tf.nn.relu, "relu6": tf.nn.relu6, "leaky relu": tf.nn.leaky_relu, "elu": tf.nn.elu, "selu": tf.nn.selu,
    "tanh": tf.tanh, "softplus": tf.nn.softplus, "swish": lambda x: x * tf.sigmoid(x), "gelu": gelu, "prelu": prelu,
    "hard swish": lambda x: x * tf.nn.relu6(x + 3.0) / 6.0, "softsign": tf.nn.softsign,
}  # fmt: skip

OPTIMIZERS: dict[str, Callable[[Any], Any]] = {
    "gradient descent": lambda rate: tf.train.GradientDescentOptimizer(rate),
    "momentum": lambda rate: tf.train.MomentumOptimizer(rate, 0.9),
    "nesterov": lambda rate: tf.train.MomentumOptimizer(rate, 0.8, use_nesterov=True),
    "adam": lambda rate: tf.train.AdamOptimizer(rate, epsilon=1e-4),
    "rmsprop": lambda rate: tf.train.RMSPropOptimizer(rate, momentum=0.5, epsilon=1e-3),
    "centered rmsprop": lambda rate: tf.train.RMSPropOptimizer(rate, centered=True, epsilon=1e-2),
    "adagrad": lambda rate: tf.train.AdagradOptimizer(rate),
    "adadelta": lambda rate: tf.train.AdadeltaOptimizer(10.0 * rate, epsilon=1e-3),
    "ftrl": lambda rate: tf.train.FtrlOptimizer(rate, l2_regularization_strength=0.01),
}
"""By learning rate.  Epsilons are large enough that a gradient that is zero but for rounding makes no full step."""

RATES: dict[str, Callable[[Any], Any]] = {
    "": lambda step: 0.05,
    "exponential decay": lambda step: tf.train.exponential_decay(0.05, step, 2, 0.7),
    "polynomial decay": lambda step: tf.train.polynomial_decay(0.05, step, 4, 0.01),
    "warm-up": lambda step: 0.05 * tf.minimum(1.0, (tf.cast(step, tf.float32) + 1.0) / 3.0),
}
"""By global step.  As large as 0.05: a wrong gradient has to show in its variable."""


def _by_global_norm(gradients: list[Tensor]) -> list[Tensor]:
    return tf.clip_by_global_norm(gradients, 1.0)[0]


def _by_value(gradients: list[Tensor]) -> list[Tensor]:
    return [tf.clip_by_value(gradient, -0.3, 0.3) for gradient in gradients]


def _by_own_norm(gradients: list[Tensor]) -> list[Tensor]:
    return [tf.clip_by_norm(gradient, 0.5) for gradient in gradients]


CLIPS: dict[str, Callable[[list[Tensor]], list[Tensor]]] = {
    "": list, "clipped by global norm": _by_global_norm, "clipped by value": _by_value, "clipped by norm": _by_own_norm,
}  # fmt: skip


def trained(draw: Draw, loss: Tensor, outputs: dict[str, Tensor], feeds: Callable[[int], Feeds]) -> Network:
    """The network with a drawn optimizer, learning rate and clipping, and at times a moving average of its weights.

    Everything that reads a variable runs before what writes one: a ref variable is otherwise read too late now and then.
    """
    loss += tf.losses.get_regularization_loss()
    step = tf.train.get_or_create_global_step()
    optimizer = draw.named(OPTIMIZERS, in_turn=True)(draw.named(RATES)(step))
    pairs = [(gradient, variable) for gradient, variable in optimizer.compute_gradients(loss) if gradient is not None]
    gradients = draw.named(CLIPS)([gradient for gradient, _ in pairs])
    dense = {f"gradient {v.name}": tf.convert_to_tensor(g) for g, (_, v) in zip(gradients, pairs, strict=True)}
    seen = {"loss": loss, **outputs, **dense}
    with tf.control_dependencies([tf.identity(value) for value in seen.values()]):
        updates = tf.group(*tf.get_collection(tf.GraphKeys.UPDATE_OPS))
    with tf.control_dependencies([updates]):
        train = optimizer.apply_gradients([(g, v) for g, (_, v) in zip(gradients, pairs, strict=True)], step)
    return Network(_averaged(draw, train), seen, feeds, ", ".join(filter(None, draw.notes)))


def _averaged(draw: Draw, train: Any) -> Any:
    if not draw.chance(0.25):
        return train
    draw.notes.append("moving average of weights")
    with tf.control_dependencies([train]):
        return tf.train.ExponentialMovingAverage(0.9, tf.train.get_global_step()).apply(tf.trainable_variables())
