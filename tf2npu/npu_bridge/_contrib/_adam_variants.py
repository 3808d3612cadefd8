"""Adam with lazy rows, with Nesterov's momentum, and with the maximum norm."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tensorflow.python.training import training_ops


class _Rows(tf.train.AdamOptimizer):
    """Adam whose rule for sparse gradients is written once for ref and resource variables."""

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return self._apply_rows(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        return self._apply_rows(grad, var, indices)

    def _numbers(self, dtype: Any) -> tuple[Any, ...]:
        """Rate with its bias correction, beta1, beta2, epsilon."""
        beta1_power, beta2_power = (tf.cast(power, dtype) for power in self._get_beta_accumulators())
        values = (tf.cast(value, dtype) for value in (self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t))
        rate, beta1, beta2, epsilon = values
        return rate * tf.sqrt(1 - beta2_power) / (1 - beta1_power), beta1, beta2, epsilon


class LazyAdamOptimizer(_Rows):
    """Adam that leaves the moments of rows without a gradient as they are."""

    def _apply_rows(self, grad: Any, var: Any, indices: Any) -> Any:
        rate, beta1, beta2, epsilon = self._numbers(var.dtype.base_dtype)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_rows = beta1 * tf.gather(m, indices) + (1 - beta1) * grad
        v_rows = beta2 * tf.gather(v, indices) + (1 - beta2) * tf.square(grad)
        step = rate * m_rows / (tf.sqrt(v_rows) + epsilon)
        with tf.control_dependencies([step]):
            m_done = tf.scatter_update(m, indices, m_rows, self._use_locking)
            v_done = tf.scatter_update(v, indices, v_rows, self._use_locking)
            return tf.group(tf.scatter_sub(var, indices, step, self._use_locking), m_done, v_done)


class NadamOptimizer(_Rows):
    """Adam with Nesterov's momentum."""

    def _dense(self, grad: Any, var: Any, apply: Any, handles: Any) -> Any:
        dtype = grad.dtype.base_dtype
        values = (*self._get_beta_accumulators(), self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t)
        numbers = [tf.cast(value, dtype) for value in values]
        return apply(*handles, *numbers, grad, use_locking=self._use_locking, use_nesterov=True)

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        handles = (var, self.get_slot(var, "m"), self.get_slot(var, "v"))
        return self._dense(grad, var, training_ops.apply_adam, handles).op

    def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
        handles = [variable.handle for variable in (var, self.get_slot(var, "m"), self.get_slot(var, "v"))]
        return self._dense(grad, var, training_ops.resource_apply_adam, handles)

    def _apply_rows(self, grad: Any, var: Any, indices: Any) -> Any:
        rate, beta1, beta2, epsilon = self._numbers(var.dtype.base_dtype)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        scaled = grad * (1 - beta1)
        with tf.control_dependencies([tf.assign(m, m * beta1, use_locking=self._use_locking)]):
            m_done = tf.scatter_add(m, indices, scaled, self._use_locking)
        with tf.control_dependencies([tf.assign(v, v * beta2, use_locking=self._use_locking)]):
            v_done = tf.scatter_add(v, indices, grad * grad * (1 - beta2), self._use_locking)
        with tf.control_dependencies([m_done, v_done]):
            step = rate * (scaled + beta1 * tf.gather(m, indices)) / (tf.sqrt(tf.gather(v, indices)) + epsilon)
        return tf.group(tf.scatter_sub(var, indices, step, self._use_locking), m_done, v_done)


class AdaMaxOptimizer(tf.train.AdamOptimizer):
    """Adam with the maximum norm in place of the second moment (Kingma and Ba, section 7.1)."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "AdaMax",
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)

    def _get_beta_accumulators(self) -> Any:
        graph = tf.get_default_graph()
        return self._get_non_slot_variable("beta1_power", graph=graph)

    def _create_slots(self, var_list: Any) -> None:
        first = min(var_list, key=lambda variable: variable.name)
        self._create_non_slot_variable(initial_value=self._beta1, name="beta1_power", colocate_with=first)
        for variable in var_list:
            self._zeros_slot(variable, "m", self._name)
            self._zeros_slot(variable, "v", self._name)

    def _numbers(self, dtype: Any) -> tuple[Any, ...]:
        power = tf.cast(self._get_beta_accumulators(), dtype)
        rate, beta1, beta2, epsilon = (
            tf.cast(value, dtype) for value in (self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t)
        )
        return -rate / (1 - power), beta1, beta2, epsilon

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        rate, beta1, beta2, epsilon = self._numbers(var.dtype.base_dtype)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_new = m.assign(beta1 * m + (1 - beta1) * grad, use_locking=self._use_locking)
        v_new = v.assign(tf.maximum(beta2 * v, tf.abs(grad)), use_locking=self._use_locking)
        step = var.assign_add(rate * (m_new / (v_new + epsilon)), use_locking=self._use_locking)
        return tf.group(step, m_new, v_new)

    _resource_apply_dense = _apply_dense

    def _apply_rows(self, grad: Any, var: Any, indices: Any) -> Any:
        rate, beta1, beta2, epsilon = self._numbers(var.dtype.base_dtype)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_rows = beta1 * tf.gather(m, indices) + (1 - beta1) * grad
        v_rows = tf.maximum(beta2 * tf.gather(v, indices), tf.abs(grad))
        step = rate * m_rows / (v_rows + epsilon)
        with tf.control_dependencies([step]):
            m_done = tf.scatter_update(m, indices, m_rows, self._use_locking)
            v_done = tf.scatter_update(v, indices, v_rows, self._use_locking)
            return tf.group(tf.scatter_add(var, indices, step, self._use_locking), m_done, v_done)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return self._apply_rows(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        return self._apply_rows(grad, var, indices)

    def _finish(self, update_ops: Any, name_scope: str) -> Any:
        power = self._get_beta_accumulators()
        with tf.control_dependencies(update_ops):
            update = power.assign(power * self._beta1_t, use_locking=self._use_locking)
        return tf.group(*update_ops, update, name=name_scope)
