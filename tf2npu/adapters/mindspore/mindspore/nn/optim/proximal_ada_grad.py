"""Adagrad with proximal steps."""

from __future__ import annotations

from typing import Any

from mindspore import _checkparam as check
from mindspore.common.dtype import float32
from mindspore.common.tensor import Tensor
from mindspore.nn.optim.optimizer import Optimizer
from mindspore.ops import operations as P


class ProximalAdagrad(Optimizer):
    """Adagrad whose steps end nearer to zero, by l1 and l2."""

    def __init__(
        self, params: Any, accum: float = 0.1, learning_rate: Any = 0.001, l1: float = 0.0, l2: float = 0.0,
        use_locking: bool = False, loss_scale: float = 1.0, weight_decay: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        for name, value in (("accum", accum), ("l1", l1), ("l2", l2)):
            check.non_negative_float(value, name, "ProximalAdagrad")
        self.accum = self.parameters.clone(prefix="accum", init=accum)
        self.l1, self.l2 = Tensor(l1, float32), Tensor(l2, float32)
        self.opt = P.ApplyProximalAdagrad(use_locking=use_locking)

    def construct(self, grads: Any) -> Any:
        gradients, rates = self._prepared(grads), self._rates_of_all()
        parts = zip(self.parameters, self.accum, rates, gradients, strict=True)
        return tuple(self.opt(weight, square, rate, self.l1, self.l2, gradient) for weight, square, rate, gradient in parts)


__all__ = ["ProximalAdagrad"]
