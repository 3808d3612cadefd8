"""``tf.contrib.estimator``: what ``tf.estimator`` took over, under the names of TF 1.15."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tensorflow.estimator import add_metrics
from tensorflow.estimator.experimental import (
    InMemoryEvaluatorHook,
    build_raw_supervised_input_receiver_fn,
    call_logit_fn,
    dnn_logit_fn_builder,
    linear_logit_fn_builder,
    make_early_stopping_hook,
    make_stop_at_checkpoint_step_hook,
    stop_if_higher_hook,
    stop_if_lower_hook,
    stop_if_no_decrease_hook,
    stop_if_no_increase_hook,
)
from tensorflow_estimator.python.estimator.early_stopping import read_eval_metrics

__all__ = [
    "InMemoryEvaluatorHook", "add_metrics", "build_raw_supervised_input_receiver_fn", "call_logit_fn",
    "clip_gradients_by_norm", "dnn_logit_fn_builder", "linear_logit_fn_builder", "make_early_stopping_hook",
    "make_stop_at_checkpoint_step_hook", "read_eval_metrics", "stop_if_higher_hook", "stop_if_lower_hook",
    "stop_if_no_decrease_hook", "stop_if_no_increase_hook",
]  # fmt: skip


class _Clipped(tf.train.Optimizer):
    """An optimizer that clips the gradients to a common norm before another one applies them."""

    def __init__(self, optimizer: tf.train.Optimizer, clip_norm: float) -> None:
        super().__init__(use_locking=False, name="ClipByNorm" + optimizer.get_name())
        self._optimizer, self._clip_norm = optimizer, clip_norm

    def compute_gradients(self, *args: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> tf.Operation:
        gradients, variables = zip(*grads_and_vars, strict=True)
        clipped, _ = tf.clip_by_global_norm(gradients, self._clip_norm)
        return self._optimizer.apply_gradients(list(zip(clipped, variables, strict=True)), global_step=global_step, name=name)

    def get_slot(self, var: Any, name: str) -> Any:
        return self._optimizer.get_slot(var, name)

    def get_slot_names(self) -> list[str]:
        return self._optimizer.get_slot_names()

    def variables(self) -> list[Any]:
        return self._optimizer.variables()


def clip_gradients_by_norm(optimizer: tf.train.Optimizer, clip_norm: float) -> tf.train.Optimizer:
    """An optimizer that clips the gradients to a common norm before ``optimizer`` applies them."""
    return _Clipped(optimizer, clip_norm)
