"""Loss scaling that also sees overflows which a device in saturation mode cuts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf
from keras.src.mixed_precision import loss_scale_optimizer as keras_scaling
from npu_device.train.optimizer import _float_status
from npu_device.utils.scope import keep_dtype_scope


class _Scale(keras_scaling._DynamicLossScaleState):
    """Keras' state of a dynamic scale, for which a step is finite when the device says so, too.

    The scale itself stays in fp32 in every precision mode: most are beyond the largest fp16 number.
    """

    _last_step_finite: tf.Variable

    def update(self, grads: Any) -> tuple[Any, tf.Tensor]:
        """The operation that updates the scale, None in eager code, and whether the step may be applied.

        After as many right steps as `growth_steps` the scale grows, if it stays finite, and after a wrong one it shrinks, down to
        1; both by `multiplier`.  Source: Keras' method of this name, which branches, where a scope has no effect.
        """
        is_right = _float_status.are_right(tf.nest.flatten(grads))
        with keep_dtype_scope():
            scale, n_right = tf.convert_to_tensor(self.current_loss_scale), self.counter + 1
            is_due = tf.logical_and(is_right, n_right >= self.growth_steps)
            grown = scale * self.multiplier
            after_right_one = tf.where(tf.logical_and(is_due, tf.math.is_finite(grown)), grown, scale)
            updates = (
                self.current_loss_scale.assign(tf.where(is_right, after_right_one, tf.maximum(scale / self.multiplier, 1.0))),
                self.counter.assign(tf.where(tf.logical_and(is_right, tf.logical_not(is_due)), n_right, 0)),
                self._last_step_finite.assign(is_right),
            )
        return tf.group(*map(keras_scaling._op_in_graph_mode, updates)), is_right


class _Watching:
    """The part that both kinds share: a scale in fp32, a last step, and updates that are skipped with a fixed scale, too."""

    _loss_scale: Any
    _optimizer: Any

    def _watch(self) -> None:
        """Called behind the constructor of Keras."""
        with tf.init_scope():
            self._last_step_finite = tf.Variable(False, trainable=False, name="npu_last_step_finite")
        if isinstance(self._loss_scale, keras_scaling._DynamicLossScaleState):
            # Keras makes it, and tracks it: the object stays, so that checkpoints are those of LossScaleOptimizer.
            self._loss_scale.__class__ = _Scale
            self._loss_scale._last_step_finite = self._last_step_finite

    def _scaled(self, loss: Any, scaled: Callable[[Any], Any]) -> Any:
        if callable(loss):
            return lambda: self._scaled(loss(), scaled)
        with keep_dtype_scope():
            return scaled(loss)

    @property
    def last_step_finite(self) -> tf.Variable:
        """A bool variable: whether the last step was applied."""
        return self._last_step_finite

    def _apply_if_right(self, gradients: Sequence[Any], apply: Callable[[], Any]) -> Any:
        """Apply gradients with a fixed scale, which Keras does without a look at them."""
        is_right = _float_status.are_right(gradients)
        self._last_step_finite.assign(is_right)
        if not _float_status.is_watched():
            return apply()

        def skip() -> tf.Tensor:
            self._optimizer.iterations.assign_add(1, read_value=False)
            return tf.constant(False)

        def applied() -> tf.Tensor:
            apply()
            return tf.constant(True)

        return tf.cond(is_right, applied, skip)


@tf.keras.utils.register_keras_serializable("npu_device", "LegacyNpuLossScaleOptimizer")
class _Legacy(_Watching, keras_scaling.LossScaleOptimizer):
    """For optimizers of `tf.keras.optimizers.legacy`."""

    def __init__(
        self, inner_optimizer: Any, dynamic: bool = True, initial_scale: Any = None, dynamic_growth_steps: Any = None
    ) -> None:
        keras_scaling.LossScaleOptimizer.__init__(self, inner_optimizer, dynamic, initial_scale, dynamic_growth_steps)
        self._watch()

    def get_scaled_loss(self, loss: Any) -> Any:
        """The loss, or the function that computes it, times the scale."""
        return self._scaled(loss, lambda value: keras_scaling.LossScaleOptimizer.get_scaled_loss(self, value))

    def get_unscaled_gradients(self, grads: Sequence[Any]) -> list[Any]:
        """The gradients divided by the scale."""
        with keep_dtype_scope():
            return keras_scaling.LossScaleOptimizer.get_unscaled_gradients(self, grads)

    def _apply_gradients(self, grads: Any, wrapped_vars: Any, name: str | None) -> Any:
        def apply() -> Any:
            return keras_scaling.LossScaleOptimizer._apply_gradients(self, grads, wrapped_vars, name)

        return apply() if self.dynamic else self._apply_if_right(grads, apply)


@tf.keras.utils.register_keras_serializable("npu_device", "NpuLossScaleOptimizer")
class _New(_Watching, keras_scaling.LossScaleOptimizerV3):
    """For optimizers of Keras since 2.11."""

    def __init__(
        self, inner_optimizer: Any, dynamic: bool = True, initial_scale: Any = None, dynamic_growth_steps: Any = None
    ) -> None:
        keras_scaling.LossScaleOptimizerV3.__init__(self, inner_optimizer, dynamic, initial_scale, dynamic_growth_steps)
        self._watch()

    def get_scaled_loss(self, loss: Any) -> Any:
        """The loss, or the function that computes it, times the scale."""
        return self._scaled(loss, lambda value: keras_scaling.LossScaleOptimizerV3.get_scaled_loss(self, value))

    def get_unscaled_gradients(self, grads: Sequence[Any]) -> list[Any]:
        """The gradients divided by the scale."""
        with keep_dtype_scope():
            return keras_scaling.LossScaleOptimizerV3.get_unscaled_gradients(self, grads)

    def _apply_gradients(self, grads: Any, wrapped_vars: Any) -> Any:
        def apply() -> Any:
            return keras_scaling.LossScaleOptimizerV3._apply_gradients(self, grads, wrapped_vars)

        return apply() if self.dynamic else self._apply_if_right(grads, apply)


class _EitherKind(keras_scaling.LossScaleOptimizerMetaclass):
    """Makes the subclass that fits the inner optimizer, as Keras' own class does."""

    def __call__(
        cls, inner_optimizer: Any, dynamic: bool = True, initial_scale: Any = None, dynamic_growth_steps: Any = None
    ) -> Any:
        is_new = isinstance(inner_optimizer, tf.keras.optimizers.Optimizer)
        kind: Any = _New if is_new else _Legacy  # which refuses what is no optimizer
        return kind(inner_optimizer, dynamic, initial_scale, dynamic_growth_steps)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, _Watching)


class NpuLossScaleOptimizer(keras_scaling.BaseLossScaleOptimizer, metaclass=_EitherKind):
    """A ``tf.keras.mixed_precision.LossScaleOptimizer`` that skips steps whose fp16 results were cut in saturation mode.

    inner_optimizer: of either kind.  dynamic, initial_scale, dynamic_growth_steps: as Keras has them.
    """

    last_step_finite = _Watching.last_step_finite


__all__ = ["NpuLossScaleOptimizer"]
