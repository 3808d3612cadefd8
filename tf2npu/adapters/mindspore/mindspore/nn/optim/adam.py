"""Adam and its kin."""

from __future__ import annotations

from typing import Any

import numpy as np
from mindspore import _checkparam as check
from mindspore.common.dtype import float32
from mindspore.common.initializer import initializer
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.optim.optimizer import Optimizer
from mindspore.ops import functional as F
from mindspore.ops import operations as P


def check_betas(beta1: Any, beta2: Any, eps: Any, owner: str) -> None:
    """Raises: TypeError, ValueError for numbers that r1.1 refuses."""
    check.fraction(beta1, "beta1", owner)
    check.fraction(beta2, "beta2", owner)
    check.positive_float(eps, "eps", owner)


class Adam(Optimizer):
    """Adam with its bias correction in the rate; its decay is added to the gradient."""

    def __init__(
        self, params: Any, learning_rate: Any = 1e-3, beta1: float = 0.9, beta2: float = 0.999, eps: float = 1e-8,
        use_locking: bool = False, use_nesterov: bool = False, weight_decay: float = 0.0, loss_scale: float = 1.0,
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        check_betas(beta1, beta2, eps, self.cls_name)
        check.flag(use_locking, "use_locking", self.cls_name)
        self.use_nesterov = check.flag(use_nesterov, "use_nesterov", self.cls_name)
        self.beta1, self.beta2, self.eps = (Tensor(one, float32) for one in (beta1, beta2, eps))
        self.beta1_power = Parameter(initializer(1, [1], float32), name="beta1_power")
        self.beta2_power = Parameter(initializer(1, [1], float32), name="beta2_power")
        self.moment1 = self.parameters.clone(prefix="moment1", init="zeros")
        self.moment2 = self.parameters.clone(prefix="moment2", init="zeros")
        self.opt = P.Adam(use_locking, use_nesterov)

    def construct(self, gradients: Any) -> Any:
        gradients, rates = self._prepared(gradients), self._rates_of_all()
        power1, power2 = self.beta1_power * self.beta1, self.beta2_power * self.beta2
        self.beta1_power = power1
        self.beta2_power = power2
        parts = zip(self.parameters, self.moment1, self.moment2, rates, gradients, strict=True)
        return tuple(
            self.opt(weight, first, second, power1, power2, rate, self.beta1, self.beta2, self.eps, gradient)
            for weight, first, second, rate, gradient in parts
        )


class AdamOffload(Adam):
    """Adam, whose moments the card leaves on the host: here it makes no difference."""


class LazyAdam(Adam):
    """Adam, which on the card leaves out rows without a gradient.  Gradients are whole tensors here, and so it is Adam."""


class AdamWeightDecay(Optimizer):
    """Adam without bias correction, and with the decay beside the update, not in the gradient.  Source: r1.1."""

    def __init__(
        self, params: Any, learning_rate: Any = 1e-3, beta1: float = 0.9, beta2: float = 0.999, eps: float = 1e-6,
        weight_decay: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, params, weight_decay)
        check_betas(beta1, beta2, eps, self.cls_name)
        self.beta1, self.beta2, self.eps = (Tensor(np.array([one], np.float32)) for one in (beta1, beta2, eps))
        self.moments1 = self.parameters.clone(prefix="adam_m", init="zeros")
        self.moments2 = self.parameters.clone(prefix="adam_v", init="zeros")

    def construct(self, gradients: Any) -> Any:
        rates = self._rates_of_all()
        decays = self.weight_decay if self.is_group else (self.weight_decay,) * self.param_length
        decays = [decay if flag else 0.0 for decay, flag in zip(decays, self.decay_flags, strict=True)]
        parts = zip(self.parameters, self.moments1, self.moments2, rates, decays, gradients, strict=True)
        return tuple(self._step(*part) for part in parts)

    def _step(self, weight: Any, first: Any, second: Any, rate: Any, decay: float, gradient: Any) -> Any:
        whole, gradient = F.cast(weight, float32), F.cast(gradient, float32)
        new_first = first * self.beta1 + gradient * (1.0 - self.beta1)
        new_second = second * self.beta2 + F.square(gradient) * (1.0 - self.beta2)
        update = new_first / (F.sqrt(new_second) + self.eps)
        update = update + whole * decay if decay else update
        F.assign(weight, F.reshape(whole - update * rate, weight.shape))
        F.assign(first, F.reshape(new_first, first.shape))
        return F.assign(second, F.reshape(new_second, second.shape))


__all__ = ["Adam", "AdamOffload", "AdamWeightDecay", "LazyAdam"]
