"""FTRL."""

from __future__ import annotations

from typing import Any

from mindspore import _checkparam as check
from mindspore.nn.optim.optimizer import Optimizer
from mindspore.ops import operations as P


class FTRL(Optimizer):
    """Follow the regularized leader; all parameters decay.  Source: nn.FTRL of r1.1."""

    def __init__(
        self, params: Any, initial_accum: float = 0.1, learning_rate: float = 0.001, lr_power: float = -0.5, l1: float = 0.0,
        l2: float = 0.0, use_locking: bool = False, loss_scale: float = 1.0, weight_decay: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        if self.dynamic_lr or self.is_group_lr:
            raise ValueError("FTRL takes one rate that does not change, and no rates of groups")
        for name, value in (("initial_accum", initial_accum), ("l1", l1), ("l2", l2)):
            check.non_negative_float(value, name, "FTRL")
        if check.a_float(lr_power, "lr_power", "FTRL") > 0:
            raise ValueError(f"FTRL(lr_power={lr_power}): 0 or a number below is needed")
        self.moments = self.parameters.clone(prefix="moments", init=initial_accum)
        self.linear = self.parameters.clone(prefix="linear", init="zeros")
        self.l1, self.l2, self.lr_power = l1, l2, lr_power
        if not self.is_group:
            self.decay_flags = (True,) * self.param_length
        self.opt = P.ApplyFtrl(use_locking=use_locking)

    def construct(self, grads: Any) -> Any:
        gradients, rates = self._prepared(grads), self._rates_of_all()
        parts = zip(self.parameters, self.moments, self.linear, gradients, rates, strict=True)
        return tuple(self.opt(*part, self.l1, self.l2, self.lr_power) for part in parts)


__all__ = ["FTRL"]
