"""Steps that are longer where gradient and momentum agree in sign (Bello et al.: Neural Optimizer Search).

Source: tensorflow/contrib/opt/python/training/addsign.py and powersign.py of TF 1.15.
"""

from __future__ import annotations

import math
from typing import Any

import tensorflow as tf
from npu_bridge._contrib._sign_decay import Decay
from tensorflow.python.training import training_ops


class _SignOptimizer(tf.train.Optimizer):
    """sign_decay_fn: by the step, how much the agreement counts.

    As in TF 1.15, sparse gradients of resource variables are refused.
    """

    def __init__(
        self, learning_rate: Any, strength: Any, beta: Any, sign_decay_fn: Decay | None, use_locking: bool, name: str
    ) -> None:
        super().__init__(use_locking, name)
        self._lr, self._strength, self._beta, self._sign_decay_fn = learning_rate, strength, beta, sign_decay_fn
        self._sign_decay: Any = 1.0

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """Raises: ValueError where sign_decay_fn needs a step and there is none."""
        if self._sign_decay_fn is not None:
            self._sign_decay = tf.convert_to_tensor(self._sign_decay_fn(global_step), name="sign_decay")
        return super().apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def _create_slots(self, var_list: Any) -> None:
        for variable in var_list:
            self._zeros_slot(variable, "m", self._name)

    def _prepare(self) -> None:
        values = self._lr, self._strength, self._sign_decay, self._beta
        self._numbers = [tf.convert_to_tensor(value) for value in values]

    def _in(self, dtype: Any) -> list[Any]:
        """Rate, strength, decay, beta."""
        return [tf.cast(number, dtype.base_dtype) for number in self._numbers]

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        slot, apply = self.get_slot(var, "m"), getattr(training_ops, f"apply_{self._op}")
        return apply(var, slot, *self._in(var.dtype), grad, use_locking=self._use_locking).op

    def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
        slot, apply = self.get_slot(var, "m"), getattr(training_ops, f"resource_apply_{self._op}")
        return apply(var.handle, slot.handle, *self._in(var.dtype), grad, use_locking=self._use_locking)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        rate, strength, decay, beta = self._in(var.dtype)
        momentum = self.get_slot(var, "m")
        moved = tf.assign(momentum, momentum * beta + grad * (1 - beta), use_locking=self._use_locking)
        agreement = decay * tf.sign(tf.gather(moved, grad.indices)) * tf.sign(grad.values)
        step = rate * self._factor(strength, agreement) * grad.values
        return tf.group(tf.scatter_sub(var, grad.indices, step, use_locking=self._use_locking), moved)


class AddSignOptimizer(_SignOptimizer):
    """gradient * (alpha + agreement of signs)."""

    _op = "add_sign"

    def __init__(
        self,
        learning_rate: Any = 0.1,
        alpha: Any = 1.0,
        beta: Any = 0.9,
        sign_decay_fn: Decay | None = None,
        use_locking: bool = False,
        name: str = "AddSignOptimizer",
    ) -> None:
        super().__init__(learning_rate, alpha, beta, sign_decay_fn, use_locking, name)

    @staticmethod
    def _factor(alpha: Any, agreement: Any) -> Any:
        return alpha + agreement


class PowerSignOptimizer(_SignOptimizer):
    """gradient * base ** (agreement of signs)."""

    _op = "power_sign"

    def __init__(
        self,
        learning_rate: Any = 0.1,
        base: float = math.e,
        beta: Any = 0.9,
        sign_decay_fn: Decay | None = None,
        use_locking: bool = False,
        name: str = "PowerSignOptimizer",
    ) -> None:
        super().__init__(learning_rate, math.log(base), beta, sign_decay_fn, use_locking, name)

    @staticmethod
    def _factor(log_base: Any, agreement: Any) -> Any:
        return tf.exp(log_base * agreement)
