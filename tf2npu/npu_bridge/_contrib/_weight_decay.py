"""Weight decay apart from the gradient (Loshchilov and Hutter): the variable shrinks before the optimizer's own step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

Pairs = Sequence[tuple[Any, Any]]


class DecoupledWeightDecayExtension:
    """Goes before an optimizer in a class's bases; each step takes ``weight_decay * variable`` off first.

    weight_decay: a number, a tensor, or a function that gives one.
    """

    def __init__(self, weight_decay: Any, **kwargs: Any) -> None:
        self._weight_decay = weight_decay
        self._decay_var_list: set[Any] = set()
        super().__init__(**kwargs)

    def minimize(
        self,
        loss: Any,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = tf.train.Optimizer.GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
        decay_var_list: Any = None,
    ) -> Any:
        """Minimize as the optimizer does; decay_var_list: the variables that decay, all when not given."""
        self._decay_var_list = _references(decay_var_list)
        return super().minimize(
            loss,
            global_step=global_step,
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            name=name,
            grad_loss=grad_loss,
        )

    def apply_gradients(
        self, grads_and_vars: Pairs, global_step: Any = None, name: str | None = None, decay_var_list: Any = None
    ) -> Any:
        """Apply gradients as the optimizer does; decay_var_list: the variables that decay, all when not given."""
        self._decay_var_list = _references(decay_var_list) or self._decay_var_list
        return super().apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def _decays(self, var: Any) -> bool:
        return not self._decay_var_list or var.ref() in self._decay_var_list

    def _rate(self) -> Any:
        return self._weight_decay() if callable(self._weight_decay) else self._weight_decay

    def _decayed(self, var: Any) -> Any:
        return var.assign_sub(self._rate() * var, self._use_locking) if self._decays(var) else tf.no_op()

    def _decayed_rows(self, var: Any, indices: Any) -> Any:
        if not self._decays(var):
            return tf.no_op()
        return tf.scatter_sub(var, indices, self._rate() * tf.gather(var, indices), self._use_locking)

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        with tf.control_dependencies([self._decayed(var)]):
            return super()._apply_dense(grad, var)

    def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
        with tf.control_dependencies([self._decayed(var)]):
            return super()._resource_apply_dense(grad, var)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        with tf.control_dependencies([self._decayed_rows(var, grad.indices)]):
            return super()._apply_sparse(grad, var)

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        with tf.control_dependencies([self._decayed_rows(var, indices)]):
            return super()._resource_apply_sparse(grad, var, indices)


def _references(variables: Any) -> set[Any]:
    return {variable.ref() for variable in variables or ()}


def extend_with_decoupled_weight_decay(base_optimizer: type) -> type:
    """A class of optimizers like ``base_optimizer`` whose first argument is the weight decay."""

    class OptimizerWithDecoupledWeightDecay(DecoupledWeightDecayExtension, base_optimizer):
        def __init__(self, weight_decay: Any, *args: Any, **kwargs: Any) -> None:
            DecoupledWeightDecayExtension.__init__(self, weight_decay, *args, **kwargs)

    return OptimizerWithDecoupledWeightDecay


class MomentumWOptimizer(DecoupledWeightDecayExtension, tf.train.MomentumOptimizer):
    """Momentum with decoupled weight decay."""

    def __init__(
        self,
        weight_decay: Any,
        learning_rate: Any,
        momentum: Any,
        use_locking: bool = False,
        name: str = "MomentumW",
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(
            weight_decay,
            learning_rate=learning_rate,
            momentum=momentum,
            use_locking=use_locking,
            name=name,
            use_nesterov=use_nesterov,
        )


class AdamWOptimizer(DecoupledWeightDecayExtension, tf.train.AdamOptimizer):
    """Adam with decoupled weight decay."""

    def __init__(
        self,
        weight_decay: Any,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "AdamW",
    ) -> None:
        super().__init__(
            weight_decay,
            learning_rate=learning_rate,
            beta1=beta1,
            beta2=beta2,
            epsilon=epsilon,
            use_locking=use_locking,
            name=name,
        )
