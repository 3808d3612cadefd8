"""Momentum."""

from __future__ import annotations

from typing import Any

from mindspore import _checkparam as check
from mindspore.common.dtype import float32
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.optim.optimizer import Optimizer
from mindspore.ops import operations as P


class Momentum(Optimizer):
    """v = momentum * v + gradient; p = p - rate * v, or with Nesterov p - rate * (gradient + momentum * v)."""

    def __init__(
        self, params: Any, learning_rate: Any, momentum: float, weight_decay: float = 0.0, loss_scale: float = 1.0,
        use_nesterov: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        check.non_negative_float(momentum, "momentum", "Momentum")
        self.momentum = Parameter(Tensor(momentum, float32), name="momentum")
        self.params = self.parameters
        self.use_nesterov = check.flag(use_nesterov, "use_nesterov", "Momentum")
        self.moments = self.params.clone(prefix="moments", init="zeros")
        self.opt = P.ApplyMomentum(use_nesterov=use_nesterov)

    def construct(self, gradients: Any) -> Any:
        gradients, rates = self._prepared(gradients), self._rates_of_all()
        parts = zip(self.params, self.moments, rates, gradients, strict=True)
        return tuple(self.opt(weight, moment, rate, gradient, self.momentum) for weight, moment, rate, gradient in parts)


__all__ = ["Momentum"]
