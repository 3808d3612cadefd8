"""Layer-wise adaptive rate scaling (You, Gitman, Ginsburg) over momentum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf
from tensorflow.python.training import training_ops


class LARSOptimizer(tf.train.Optimizer):
    """Momentum whose rate, for each variable, is scaled by eeta * |w| / (|g| + weight_decay * |w| + epsilon).

    skip_list: variables whose name contains one of these texts get neither scaling nor decay.
    Raises: ValueError when momentum or weight_decay is negative.
    """

    def __init__(
        self,
        learning_rate: Any,
        momentum: Any = 0.9,
        weight_decay: float = 0.0001,
        eeta: float = 0.001,
        epsilon: float = 0.0,
        name: str = "LARSOptimizer",
        skip_list: Sequence[str] | None = None,
        use_nesterov: bool = False,
    ) -> None:
        for what, value in (("momentum", momentum), ("weight_decay", weight_decay)):
            if value < 0.0:
                raise ValueError(f"{what} should be positive: {value}")
        super().__init__(use_locking=False, name=name)
        self._learning_rate, self._momentum, self._weight_decay = learning_rate, momentum, weight_decay
        self._eeta, self._epsilon = eeta, epsilon
        self._skip_list, self._use_nesterov = skip_list, use_nesterov

    def _create_slots(self, var_list: Any) -> None:
        for var in var_list:
            self._zeros_slot(var, "momentum", self._name)

    def compute_lr(self, grad: Any, var: Any) -> tuple[Any, Any]:
        """The rate for a variable, and its gradient with the decay added."""
        if any(part in var.name for part in self._skip_list or ()):
            return self._learning_rate, grad
        weight, slope = tf.norm(var, ord=2), tf.norm(grad, ord=2)
        ratio = self._eeta * weight / (slope + self._weight_decay * weight + self._epsilon)
        trust = tf.where(tf.greater(weight, 0), tf.where(tf.greater(slope, 0), ratio, 1.0), 1.0)
        return self._learning_rate * trust, grad + self._weight_decay * var

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        rate, grad = self.compute_lr(grad, var)
        slot, one = self.get_slot(var, "momentum"), tf.cast(1.0, var.dtype.base_dtype)
        return training_ops.apply_momentum(
            var, slot, one, grad * rate, self._momentum, use_locking=False, use_nesterov=self._use_nesterov
        )

    def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
        rate, grad = self.compute_lr(grad, var)
        slot, one = self.get_slot(var, "momentum"), tf.cast(1.0, var.dtype.base_dtype)
        return training_ops.resource_apply_momentum(
            var.handle, slot.handle, one, grad * rate, self._momentum, use_locking=False, use_nesterov=self._use_nesterov
        )

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        rate, momentum = (tf.cast(value, var.dtype.base_dtype) for value in (self._rate_t, self._momentum_t))
        return training_ops.sparse_apply_momentum(
            var, self.get_slot(var, "momentum"), rate, grad.values, grad.indices, momentum,
            use_locking=self._use_locking, use_nesterov=self._use_nesterov,
        ).op  # fmt: skip

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        rate, momentum = (tf.cast(value, grad.dtype) for value in (self._rate_t, self._momentum_t))
        return training_ops.resource_sparse_apply_momentum(
            var.handle, self.get_slot(var, "momentum").handle, rate, grad, indices, momentum,
            use_locking=self._use_locking, use_nesterov=self._use_nesterov,
        )  # fmt: skip

    def _prepare(self) -> None:
        rate = self._learning_rate() if callable(self._learning_rate) else self._learning_rate
        momentum = self._momentum() if callable(self._momentum) else self._momentum
        self._rate_t = tf.convert_to_tensor(rate, name="learning_rate")
        self._momentum_t = tf.convert_to_tensor(momentum, name="momentum")
