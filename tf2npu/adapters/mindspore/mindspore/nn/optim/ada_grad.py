"""Adagrad."""

from __future__ import annotations

from typing import Any

from mindspore import _checkparam as check
from mindspore.nn.optim.optimizer import Optimizer
from mindspore.ops import operations as P


class Adagrad(Optimizer):
    """Steps divided by the root of the sum of squares of gradients."""

    def __init__(
        self, params: Any, accum: float = 0.1, learning_rate: Any = 0.001, update_slots: bool = True, loss_scale: float = 1.0,
        weight_decay: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        check.non_negative_float(accum, "accum", "Adagrad")
        self.update_slots = check.flag(update_slots, "update_slots", "Adagrad")
        self.accum = self.parameters.clone(prefix="accum", init=accum)
        self.opt = P.ApplyAdagrad(update_slots=update_slots)

    def construct(self, grads: Any) -> Any:
        gradients, rates = self._prepared(grads), self._rates_of_all()
        parts = zip(self.parameters, self.accum, rates, gradients, strict=True)
        return tuple(self.opt(*part) for part in parts)


__all__ = ["Adagrad"]
