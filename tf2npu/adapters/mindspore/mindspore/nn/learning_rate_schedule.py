"""Learning rates as cells of the step."""

from __future__ import annotations

import math
from typing import Any

from mindspore import _checkparam as check
from mindspore.common.dtype import float32
from mindspore.nn.cell import Cell
from mindspore.ops import functional as F
from mindspore.ops import operations as P


class LearningRateSchedule(Cell):
    """A rate as a function of the step; programs write their own `construct(self, global_step)`."""

    def construct(self, global_step: Any) -> Any:
        raise RuntimeError(f"{self.cls_name} has no construct(self, global_step)")


class _Decay(LearningRateSchedule):
    """A rate that falls by a factor."""

    def __init__(self, learning_rate: float, decay_rate: float, decay_steps: int, is_stair: bool = False) -> None:
        super().__init__()
        self.learning_rate = check.positive_float(learning_rate, "learning_rate", self.cls_name)
        self.decay_rate = check.positive_float(decay_rate, "decay_rate", self.cls_name)
        self.decay_steps = check.positive_int(decay_steps, "decay_steps", self.cls_name)
        self.is_stair = check.flag(is_stair, "is_stair", self.cls_name)

    def _periods(self, global_step: Any) -> Any:
        """The times that decay_steps went by: with is_stair a whole number."""
        periods = F.cast(global_step, float32) / float(self.decay_steps)
        return P.Floor()(periods) if self.is_stair else periods


class ExponentialDecayLR(_Decay):
    """learning_rate * decay_rate ** (step / decay_steps)."""

    def construct(self, global_step: Any) -> Any:
        return P.Pow()(self.decay_rate, self._periods(global_step)) * self.learning_rate


class NaturalExpDecayLR(_Decay):
    """learning_rate * exp(-decay_rate * step); with is_stair the step is a multiple of decay_steps."""

    def construct(self, global_step: Any) -> Any:
        step = self._periods(global_step) * float(self.decay_steps) if self.is_stair else F.cast(global_step, float32)
        return P.Exp()(step * -self.decay_rate) * self.learning_rate


class InverseDecayLR(_Decay):
    """learning_rate / (1 + decay_rate * step / decay_steps)."""

    def construct(self, global_step: Any) -> Any:
        return P.RealDiv()(self.learning_rate, self._periods(global_step) * self.decay_rate + 1.0)


class CosineDecayLR(LearningRateSchedule):
    """A rate that falls from max_lr to min_lr by half a wave."""

    def __init__(self, min_lr: float, max_lr: float, decay_steps: int) -> None:
        super().__init__()
        self.min_lr = check.non_negative_float(min_lr, "min_lr", "CosineDecayLR")
        self.max_lr = check.positive_float(max_lr, "max_lr", "CosineDecayLR")
        self.decay_steps = check.positive_int(decay_steps, "decay_steps", "CosineDecayLR")
        if min_lr >= max_lr:
            raise ValueError(f"CosineDecayLR(min_lr={min_lr}, max_lr={max_lr}): max_lr is above min_lr")

    def construct(self, global_step: Any) -> Any:
        part = F.cast(P.Minimum()(global_step, self.decay_steps), float32) * (math.pi / self.decay_steps)
        return (P.Cos()(part) + 1.0) * (0.5 * (self.max_lr - self.min_lr)) + self.min_lr


class PolynomialDecayLR(LearningRateSchedule):
    """A rate that falls to another by a power of the steps that are left."""

    def __init__(
        self, learning_rate: float, end_learning_rate: float, decay_steps: int, power: float, update_decay_steps: bool = False
    ) -> None:  # fmt: skip
        super().__init__()
        name = "PolynomialDecayLR"
        self.start_learning_rate = check.positive_float(learning_rate, "learning_rate", name)
        self.end_learning_rate = check.non_negative_float(end_learning_rate, "end_learning_rate", name)
        self.decay_steps = check.positive_int(decay_steps, "decay_steps", name)
        self.power = check.positive_float(power, "power", name)
        self.update_decay_steps = check.flag(update_decay_steps, "update_decay_steps", name)

    def construct(self, global_step: Any) -> Any:
        step, steps = F.cast(global_step, float32), float(self.decay_steps)
        if self.update_decay_steps:
            steps = P.Maximum()(P.Ceil()(step / steps), 1.0) * steps
        else:
            step = P.Minimum()(step, steps)
        left = P.Pow()(1.0 - step / steps, self.power)
        return left * (self.start_learning_rate - self.end_learning_rate) + self.end_learning_rate


class WarmUpLR(LearningRateSchedule):
    """A rate that rises from 0 in so many steps."""

    def __init__(self, learning_rate: float, warmup_steps: int) -> None:
        super().__init__()
        self.learning_rate = check.non_negative_float(learning_rate, "learning_rate", "WarmUpLR")
        self.warmup_steps = check.positive_int(warmup_steps, "warmup_steps", "WarmUpLR")

    def construct(self, global_step: Any) -> Any:
        part = F.cast(P.Minimum()(global_step, self.warmup_steps), float32) / float(self.warmup_steps)
        return part * self.learning_rate


__all__ = ["CosineDecayLR", "ExponentialDecayLR", "InverseDecayLR", "NaturalExpDecayLR", "PolynomialDecayLR", "WarmUpLR"]
