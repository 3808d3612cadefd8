"""RMSProp."""

from __future__ import annotations

from typing import Any

from mindspore import _checkparam as check
from mindspore.nn.optim.optimizer import Optimizer
from mindspore.ops import operations as P


class RMSProp(Optimizer):
    """Steps divided by the root of the mean square of gradients, which begins with ones.  Source: nn.RMSProp of r1.1."""

    def __init__(
        self, params: Any, learning_rate: Any = 0.1, decay: float = 0.9, momentum: float = 0.0, epsilon: float = 1e-10,
        use_locking: bool = False, centered: bool = False, loss_scale: float = 1.0, weight_decay: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.decay = check.non_negative_float(decay, "decay", "RMSProp")
        self.momentum = check.non_negative_float(momentum, "momentum", "RMSProp")
        self.epsilon = check.positive_float(epsilon, "epsilon", "RMSProp")
        self.centered = check.flag(centered, "centered", "RMSProp")
        self.opt = P.ApplyCenteredRMSProp(use_locking) if centered else P.ApplyRMSProp(use_locking)
        if centered:
            self.mg = self.parameters.clone(prefix="mean_grad", init="zeros")
        self.ms = self.parameters.clone(prefix="mean_square", init="ones")
        self.moment = self.parameters.clone(prefix="moment", init="zeros")

    def construct(self, gradients: Any) -> Any:
        gradients, rates = self._prepared(gradients), self._rates_of_all()
        numbers = (self.decay, self.momentum, self.epsilon)
        if self.centered:
            parts = zip(self.parameters, self.mg, self.ms, self.moment, gradients, rates, strict=True)
            return tuple(self.opt(*part, *numbers) for part in parts)
        parts = zip(self.parameters, self.ms, self.moment, rates, gradients, strict=True)
        return tuple(self.opt(*part, *numbers) for part in parts)


__all__ = ["RMSProp"]
