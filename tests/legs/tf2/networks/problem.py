"""Networks to train: a model with its data, loss and optimizer, or a step of its own, and the ways to train them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

N_STEPS = 20
AT_ONCE = 4
"""Steps in one call of the function where it has a loop. Keras calls that steps_per_execution."""


class Trained(NamedTuple):
    """losses: one a step, or one for AT_ONCE steps, and behind them what evaluate says.  weights: arrays at the end."""

    losses: list[float]
    weights: list[np.ndarray]


class Prepared(NamedTuple):
    """A training step, for use inside of a function, which gives a loss; its batches, and the variables to look at behind it."""

    step: Callable[..., tf.Tensor]
    batches: tf.data.Dataset
    variables: Callable[[], list[tf.Variable]]


@dataclass(frozen=True)
class Problem:
    """A network that Keras can fit. A model with a method `objective` computes its loss by that."""

    model: Callable[[], tf.keras.Model]
    data: Callable[[], tuple[Any, Any]]
    optimizer: Callable[[], Any]
    loss: Any = field(default_factory=lambda: tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    metrics: tuple[str, ...] = ("accuracy",)
    batch: int = 16

    def prepared(self, move: Move) -> Prepared:
        model, optimizer, data = self.model(), self.optimizer(), move.arrays(self.data())
        objective = getattr(model, "objective", None) or self._objective(model)

        def step(x: Any, y: Any) -> tf.Tensor:
            with tf.GradientTape() as tape:
                loss = objective(x, y)
            variables = model.trainable_variables
            optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
            return loss

        batches = batched(data, self.batch)
        _build(model, batches)
        move.weights(model.trainable_variables, data[0])
        return Prepared(step, batches, lambda: model.variables)

    def _objective(self, model: tf.keras.Model) -> Callable[[Any, Any], tf.Tensor]:
        def objective(x: Any, y: Any) -> tf.Tensor:
            loss = tf.reduce_mean(self.loss(y, model(x, training=True)))
            return loss + tf.add_n(model.losses) if model.losses else loss

        return objective

    def fit(self, move: Move, at_once: int = 1) -> Trained:
        """Keras trains, evaluates and predicts."""
        model, data = self.model(), move.arrays(self.data())
        batches = batched(data, self.batch)
        _build(model, batches)
        move.weights(model.trainable_variables, data[0])
        losses = None if hasattr(model, "objective") else self.loss
        metrics = [] if losses is None else list(self.metrics)
        model.compile(self.optimizer(), losses, metrics=metrics, steps_per_execution=at_once)
        log = _Losses(at_once)
        model.fit(batches, steps_per_epoch=N_STEPS, verbose=0, callbacks=[log])
        if losses is None:
            return Trained(log.of_steps, model.get_weights())
        measured = model.evaluate(batches, steps=4, verbose=0)
        predicted = model.predict(batches, steps=4, verbose=0)
        return Trained([*log.of_steps, *np.ravel(measured).tolist()], [*model.get_weights(), np.asarray(predicted)])


@dataclass(frozen=True)
class OwnStep:
    """A network whose training step is written by hand.  made: gives the step, its batches and variables."""

    made: Callable[[], Prepared]

    def prepared(self, move: Move) -> Prepared:
        step, batches, variables = self.made()
        move.weights(variables(), None)
        return Prepared(step, batches, variables)


@dataclass(frozen=True)
class Move:
    """Inputs that are moved in their last bit, to see how far TensorFlow is from itself.

    bits: 0 leaves them, 1 and -1 take the next number above or below. Where a network has no inputs of floats, the trained
    variables that it begins with are moved.
    """

    bits: int = 0

    def arrays(self, data: tuple[Any, Any]) -> tuple[Any, Any]:
        return (tf.nest.map_structure(self._moved, data[0]), data[1]) if self.bits else data

    def weights(self, variables: list[tf.Variable], inputs: Any) -> None:
        if self.bits and not any(_is_float(one) for one in tf.nest.flatten(inputs)):
            for variable in variables:
                variable.assign(self._moved(variable.numpy()))

    def _moved(self, array: np.ndarray) -> np.ndarray:
        return np.nextafter(array, np.float32(self.bits * np.inf)) if _is_float(array) else array


def _is_float(array: Any) -> bool:
    return array is not None and np.asarray(array).dtype == np.float32


def batched(data: tuple[Any, Any], size: int) -> tf.data.Dataset:
    return tf.data.Dataset.from_tensor_slices(data).batch(size, drop_remainder=True).repeat()


def _build(model: tf.keras.Model, batches: tf.data.Dataset) -> None:
    """Makes the variables of a model that has none before its first call."""
    if not model.built:
        model(next(iter(batches))[0])


class _Losses(tf.keras.callbacks.Callback):
    """The loss of each call; Keras tells the mean of all steps so far."""

    def __init__(self, at_once: int) -> None:
        super().__init__()
        self.of_steps: list[float] = []
        self._sum, self._at_once, self._calls = 0.0, at_once, 0

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self._calls += 1
        total = float(logs["loss"]) * self._calls
        self.of_steps.append(total - self._sum)
        self._sum = total


def loop(problem: Problem | OwnStep, move: Move) -> Trained:
    """The script's own loop over batches calls the step."""
    step, batches, variables = problem.prepared(move)
    call = tf.function(step)
    losses = [float(call(*batch)) for batch in batches.take(N_STEPS)]
    return Trained(losses, _values(variables()))


def loop_in_function(problem: Problem | OwnStep, move: Move) -> Trained:
    """A loop of AT_ONCE steps inside of the function, which takes batches from an iterator."""
    step, batches, variables = problem.prepared(move)
    iterator = iter(batches)

    @tf.function
    def several(iterator: Iterator[Any]) -> tf.Tensor:
        losses = tf.TensorArray(tf.float32, AT_ONCE)
        for i in tf.range(AT_ONCE):
            losses = losses.write(i, step(*next(iterator)))
        return losses.stack()

    losses = [loss for _ in range(N_STEPS // AT_ONCE) for loss in several(iterator).numpy().tolist()]
    return Trained(losses, _values(variables()))


def _values(variables: list[tf.Variable]) -> list[np.ndarray]:
    return [variable.numpy() for variable in variables]


def train(problem: Problem | OwnStep, way: str, move: Move = Move()) -> Trained:
    """Trains N_STEPS steps from the same seeds.  way: one of the names of `ways`."""
    tf.keras.backend.clear_session()
    tf.keras.utils.set_random_seed(3)
    return ways(problem)[way](move)


def ways(problem: Problem | OwnStep) -> dict[str, Callable[[Move], Trained]]:
    """The ways to train a network, by name."""
    found: dict[str, Callable[[Move], Trained]] = {"loop": lambda move: loop(problem, move)}
    if isinstance(problem, Problem):
        found |= {"fit": problem.fit, "fours": lambda move: problem.fit(move, AT_ONCE)}
    else:
        found["fours"] = lambda move: loop_in_function(problem, move)
    return found
