"""LAMB."""

from __future__ import annotations

from typing import Any

import numpy as np
from mindspore.common.dtype import float32
from mindspore.common.initializer import initializer
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.optim.adam import check_betas
from mindspore.nn.optim.optimizer import Optimizer
from mindspore.ops import functional as F
from mindspore.ops import operations as P
from mindspore.ops.composite import clip_by_value


def _norm(x: Any) -> Any:
    return F.sqrt(P.ReduceSum()(F.square(x)))


class Lamb(Optimizer):
    """Adam with bias correction, whose update of each parameter is as large as the parameter, up to ten times.  Source: r1.1."""

    def __init__(
        self, params: Any, learning_rate: Any, beta1: float = 0.9, beta2: float = 0.999, eps: float = 1e-6,
        weight_decay: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, params, weight_decay)
        check_betas(beta1, beta2, eps, self.cls_name)
        self.beta1, self.beta2, self.eps = (Tensor(np.array([one], np.float32)) for one in (beta1, beta2, eps))
        self.params = self.parameters
        self.moments1 = self.params.clone(prefix="lamb_m", init="zeros")
        self.moments2 = self.params.clone(prefix="lamb_v", init="zeros")
        if not self.dynamic_lr:
            self.global_step = Parameter(initializer(0, [1]), name="global_step")
            self.assignadd = P.AssignAdd()

    def construct(self, gradients: Any) -> Any:
        step = F.cast(self.global_step, float32) + 1.0
        rates = self._rates_of_all()
        corrections = (1.0 - P.Pow()(self.beta1, step), 1.0 - P.Pow()(self.beta2, step))
        decays = self.weight_decay if self.is_group else (self.weight_decay,) * self.param_length
        parts = zip(self.params, self.moments1, self.moments2, rates, decays, self.decay_flags, gradients, strict=True)
        done = tuple(self._step(corrections, *part) for part in parts)
        if not self.dynamic_lr:
            self.assignadd(self.global_step, 1)
        return done

    def _step(
        self, corrections: Any, weight: Any, first: Any, second: Any, rate: Any, decay: float, is_decayed: bool, gradient: Any
    ) -> Any:  # fmt: skip
        whole, gradient = F.cast(weight, float32), F.cast(gradient, float32)
        new_first = first * self.beta1 + gradient * (1.0 - self.beta1)
        new_second = second * self.beta2 + F.square(gradient) * (1.0 - self.beta2)
        mean, square = new_first / corrections[0], new_second / corrections[1]
        update = mean / (F.sqrt(square) + self.eps)
        update = update + whole * decay if is_decayed and decay else update
        trust = _trust(whole, gradient, mean * P.Rsqrt()(square + self.eps) + whole * decay)
        F.assign(weight, F.reshape(whole - update * trust * rate, weight.shape))
        F.assign(first, F.reshape(new_first, first.shape))
        return F.assign(second, F.reshape(new_second, second.shape))


def _trust(weight: Any, gradient: Any, update: Any) -> Any:
    """The norm of the weight by that of the update, from 0 to 10; 1 where the weight or the gradient is zero."""
    of_weight, of_gradient, of_update = _norm(weight), _norm(gradient), _norm(update)
    one = F.ones_like(of_weight)
    ratio = F.select(P.LogicalAnd()(of_weight > 0.0, of_gradient > 0.0), of_weight / of_update, one)
    return clip_by_value(ratio, 0.0, 10.0)


__all__ = ["Lamb"]
