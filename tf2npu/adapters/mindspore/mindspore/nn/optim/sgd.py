"""Stochastic gradient descent."""

from __future__ import annotations

from typing import Any

from mindspore import _checkparam as check
from mindspore.common.dtype import float32
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.optim.optimizer import Optimizer
from mindspore.ops import operations as P


class SGD(Optimizer):
    """p = p - rate * v with v = momentum * v + (1 - dampening) * gradient, of the first step v = gradient.

    Parameters decay as the page of nn.SGD says. The code of r1.1 lets those with "beta" or "gamma" in their names decay as well,
    and leaves out the decay of groups; 2.10 does what the page says.
    """

    def __init__(
        self, params: Any, learning_rate: Any = 0.1, momentum: float = 0.0, dampening: float = 0.0, weight_decay: float = 0.0,
        nesterov: bool = False, loss_scale: float = 1.0,
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        momentum, dampening = (float(one) if isinstance(one, int) else one for one in (momentum, dampening))
        check.non_negative_float(momentum, "momentum", "SGD")
        self.dampening = check.non_negative_float(dampening, "dampening", "SGD")
        self.nesterov = check.flag(nesterov, "nesterov", "SGD")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError(
                f"SGD(nesterov=True, momentum={momentum}, dampening={dampening}): the one is above 0 then, and the other 0"
            )
        self.opt = P.SGD(dampening, 0.0, nesterov)
        self.momentum = Parameter(Tensor(momentum, float32), name="momentum")
        self.accum = self.parameters.clone(prefix="accum", init="zeros")
        self.stat = self.parameters.clone(prefix="stat", init="ones")

    def construct(self, gradients: Any) -> Any:
        gradients, rates = self._prepared(gradients), self._rates_of_all()
        parts = zip(self.parameters, gradients, rates, self.accum, self.stat, strict=True)
        return tuple(
            self.opt(weight, gradient, rate, moment, self.momentum, stat) for weight, gradient, rate, moment, stat in parts
        )


__all__ = ["SGD"]
