"""Layer-wise rates around another optimizer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore import _checkparam as check
from mindspore.common.dtype import float32
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.optim.optimizer import Optimizer
from mindspore.ops import operations as P


class LARS(Optimizer):
    """Gradients scaled by the norms of parameter and gradient, and decayed, for another optimizer, which then does neither.

    lars_filter: whether a parameter's gradient is scaled.
    """

    def __init__(
        self, optimizer: Optimizer, epsilon: float = 1e-05, coefficient: float = 0.001, use_clip: bool = False,
        lars_filter: Callable[[Any], bool] = lambda x: "LayerNorm" not in x.name and "bias" not in x.name,
    ) -> None:  # fmt: skip
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"LARS({optimizer!r}): an optimizer is needed")
        super().__init__(0.0, [Parameter(Tensor(0.0), name="fake_param")])
        self.opt, self.parameters, self.param_length = optimizer, optimizer.parameters, optimizer.param_length
        self.learning_rate = Parameter(Tensor(0.0, dtype=float32), name="fake_lr")
        self.lars_flag = tuple(lars_filter(one) for one in self.parameters)
        self.is_group, self.decay_flags = optimizer.is_group, optimizer.decay_flags
        self.reciprocal_scale, self.need_scale = optimizer.reciprocal_scale, optimizer.need_scale
        self.use_clip = check.flag(use_clip, "use_clip", "LARS")
        if use_clip and optimizer.dynamic_lr and optimizer.is_group_lr:
            raise ValueError("LARS(use_clip=True) takes no optimizer whose groups have rates that change")
        self.lars = P.LARSUpdate(
            check.a_float(epsilon, "epsilon", "LARS"), check.a_float(coefficient, "coefficient", "LARS"), use_clip
        )
        self._take_decay(optimizer)

    def _take_decay(self, optimizer: Optimizer) -> None:
        """Takes the decay and the scale over from the other optimizer."""
        decays = optimizer.weight_decay if self.is_group else (optimizer.weight_decay,) * self.param_length
        self.weight_decay = tuple(one / optimizer.loss_scale for one in decays)
        optimizer.weight_decay = (0.0,) * self.param_length if self.is_group else 0.0
        optimizer.decay_flags, optimizer.exec_weight_decay = (False,) * self.param_length, False
        optimizer.need_scale = False

    def _current_rates(self) -> tuple[Any, ...]:
        """The rates of this step, with which the other optimizer has not gone on yet."""
        rate = self.opt.learning_rate if self.use_clip else self.learning_rate
        if self.use_clip and self.opt.is_group_lr:
            return tuple(rate)
        return ((rate(self.opt.global_step) if self.use_clip and self.opt.dynamic_lr else rate),) * self.param_length

    def construct(self, gradients: Any) -> Any:
        scaled, rates = self.scale_grad(gradients), self._current_rates()
        parts = zip(self.parameters, scaled, rates, self.weight_decay, self.decay_flags, self.lars_flag, strict=True)
        return self.opt(tuple(self._scaled(*part) for part in parts))

    def _scaled(self, weight: Any, gradient: Any, rate: Any, decay: float, is_decayed: bool, is_scaled: bool) -> Any:
        if not is_scaled:
            return gradient
        squares = P.SquareSumAll()(weight, gradient)
        return self.lars(weight, gradient, *squares, decay if is_decayed else 0.0, rate)


__all__ = ["LARS"]
