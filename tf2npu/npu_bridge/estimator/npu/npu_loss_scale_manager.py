"""Loss scales that stay, and those that change with the steps."""

from __future__ import annotations

import abc

import tensorflow as tf

MAX_SCALE = 3.4e38
"""The largest loss scale: just below the largest fp32 number."""


class LossScaleManager(abc.ABC):
    """Interface of a loss scale for an optimizer.  Source: tf.contrib.mixed_precision.LossScaleManager of TF 1.15."""

    @abc.abstractmethod
    def get_loss_scale(self) -> tf.Tensor:
        """The scale, a float32 scalar."""

    @abc.abstractmethod
    def update_loss_scale(self, finite_grads: tf.Tensor) -> tf.Operation:
        """An operation that changes the scale after a step; finite_grads: whether all gradients were."""

    def get_enable_overflow_check(self) -> bool:
        """Whether steps are checked for overflow."""
        return True


class FixedLossScaleManager(LossScaleManager):
    """A scale that stays; ValueError below 1."""

    def __init__(self, loss_scale: float, enable_overflow_check: bool = True) -> None:
        if loss_scale < 1:
            raise ValueError(f"loss_scale must be at least 1, got {loss_scale}")
        self._loss_scale = tf.convert_to_tensor(loss_scale, dtype=tf.float32)
        self._enable_overflow_check = enable_overflow_check

    def get_loss_scale(self) -> tf.Tensor:
        """The scale, a float32 scalar."""
        return self._loss_scale

    def update_loss_scale(self, finite_grads: tf.Tensor) -> tf.Operation:
        """An operation that does nothing."""
        del finite_grads
        return tf.no_op()

    def get_enable_overflow_check(self) -> bool:
        """Whether steps are checked for overflow."""
        return self._enable_overflow_check


class ExponentialUpdateLossScaleManager(LossScaleManager):
    """A scale that grows after many good steps in a row and shrinks after a few bad ones."""

    def __init__(
        self,
        init_loss_scale: float,
        incr_every_n_steps: int,
        decr_every_n_nan_or_inf: int = 2,
        incr_ratio: float = 2,
        decr_ratio: float = 0.8,
    ) -> None:
        self._incr_every_n_steps = incr_every_n_steps
        self._decr_every_n_nan_or_inf = decr_every_n_nan_or_inf
        self._incr_ratio = incr_ratio
        self._decr_ratio = decr_ratio
        self._loss_scale = _local("loss_scale", init_loss_scale, tf.float32)
        self._num_good_steps = _local("good_steps", 0, tf.int32)
        self._num_bad_steps = _local("bad_steps", 0, tf.int32)

    def get_loss_scale(self) -> tf.Tensor:
        """The scale, a float32 scalar."""
        return self._loss_scale

    def update_loss_scale(self, finite_grads: tf.Tensor) -> tf.Operation:
        """Count the step as good or bad and change the scale when one count is reached."""
        return tf.cond(finite_grads, self._after_good_step, self._after_bad_step).op

    def _after_good_step(self) -> tf.Tensor:
        def grow() -> tf.Tensor:
            larger = self._loss_scale * self._incr_ratio
            changed = tf.cond(
                larger < MAX_SCALE, lambda: tf.assign(self._loss_scale, larger), lambda: tf.identity(self._loss_scale)
            )
            return tf.group(changed, tf.assign(self._num_good_steps, 0), tf.assign(self._num_bad_steps, 0))

        def count() -> tf.Tensor:
            return tf.group(tf.assign_add(self._num_good_steps, 1))

        return _chosen(self._num_good_steps + 1 >= self._incr_every_n_steps, grow, count)

    def _after_bad_step(self) -> tf.Tensor:
        def shrink() -> tf.Tensor:
            smaller = tf.maximum(1.0, self._loss_scale * self._decr_ratio)
            resets = tf.assign(self._num_good_steps, 0), tf.assign(self._num_bad_steps, 0)
            return tf.group(tf.assign(self._loss_scale, smaller), *resets)

        def count() -> tf.Tensor:
            return tf.group(tf.assign_add(self._num_bad_steps, 1), tf.assign(self._num_good_steps, 0))

        return _chosen(self._num_bad_steps + 1 >= self._decr_every_n_nan_or_inf, shrink, count)


def _chosen(condition: tf.Tensor, then: object, otherwise: object) -> tf.Tensor:
    """Run one of two operations and give a tensor that depends on it."""

    def done(build: object) -> tf.Tensor:
        with tf.control_dependencies([build()]):
            return tf.constant(True)

    return tf.cond(condition, lambda: done(then), lambda: done(otherwise))


def _local(name: str, value: float, dtype: tf.DType) -> tf.Variable:
    return tf.Variable(value, dtype=dtype, trainable=False, name=name, use_resource=True)
