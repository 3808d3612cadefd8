"""Learning rates as lists, a number for each step."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from mindspore import _checkparam as check


def piecewise_constant_lr(milestone: Any, learning_rates: Any) -> list[float]:
    """Rates that hold up to milestones, which are steps."""
    for name, value in (("milestone", milestone), ("learning_rates", learning_rates)):
        if not isinstance(value, (tuple, list)):
            raise TypeError(f"piecewise_constant_lr({name}={value!r}): a list is needed")
    if len(milestone) != len(learning_rates):
        raise ValueError(f"piecewise_constant_lr: {len(milestone)} milestones, and {len(learning_rates)} rates")
    rates: list[float] = []
    for step, rate in zip(milestone, learning_rates, strict=False):
        check.positive_int(step, "milestone", "piecewise_constant_lr")
        check.a_float(rate, "learning_rates", "piecewise_constant_lr")
        if step < len(rates):
            raise ValueError(f"piecewise_constant_lr(milestone={list(milestone)}): the milestones have to rise")
        rates += [rate] * (step - len(rates))
    return rates


def _by_epoch(rate_of: Callable[[int], float], total_step: int, step_per_epoch: int) -> list[float]:
    return [rate_of(step // step_per_epoch) for step in range(total_step)]


def _check_steps(total_step: int, step_per_epoch: int, epochs: int, owner: str) -> None:
    for name, value in (("total_step", total_step), ("step_per_epoch", step_per_epoch), ("decay_epoch", epochs)):
        check.positive_int(value, name, owner)


def _check_decay(rate: Any, decay: Any, is_stair: Any, owner: str) -> None:
    check.positive_float(rate, "learning_rate", owner)
    check.positive_float(decay, "decay_rate", owner)
    check.flag(is_stair, "is_stair", owner)


def exponential_decay_lr(
    learning_rate: float, decay_rate: float, total_step: int, step_per_epoch: int, decay_epoch: int, is_stair: bool = False
) -> list[float]:  # fmt: skip
    """learning_rate * decay_rate ** (epoch / decay_epoch)."""
    _check_steps(total_step, step_per_epoch, decay_epoch, "exponential_decay_lr")
    _check_decay(learning_rate, decay_rate, is_stair, "exponential_decay_lr")

    def rate(epoch: int) -> float:
        return learning_rate * decay_rate ** (epoch // decay_epoch if is_stair else epoch / decay_epoch)

    return _by_epoch(rate, total_step, step_per_epoch)


def natural_exp_decay_lr(
    learning_rate: float, decay_rate: float, total_step: int, step_per_epoch: int, decay_epoch: int, is_stair: bool = False
) -> list[float]:  # fmt: skip
    """learning_rate * exp(-decay_rate * epoch); with is_stair the epoch is a multiple of decay_epoch."""
    _check_steps(total_step, step_per_epoch, decay_epoch, "natural_exp_decay_lr")
    _check_decay(learning_rate, decay_rate, is_stair, "natural_exp_decay_lr")

    def rate(epoch: int) -> float:
        return learning_rate * math.e ** (-decay_rate * (epoch // decay_epoch * decay_epoch if is_stair else epoch))

    return _by_epoch(rate, total_step, step_per_epoch)


def inverse_decay_lr(
    learning_rate: float, decay_rate: float, total_step: int, step_per_epoch: int, decay_epoch: int, is_stair: bool = False
) -> list[float]:  # fmt: skip
    """learning_rate / (1 + decay_rate * epoch / decay_epoch)."""
    _check_steps(total_step, step_per_epoch, decay_epoch, "inverse_decay_lr")
    _check_decay(learning_rate, decay_rate, is_stair, "inverse_decay_lr")

    def rate(epoch: int) -> float:
        return learning_rate / (1 + decay_rate * (epoch // decay_epoch if is_stair else epoch / decay_epoch))

    return _by_epoch(rate, total_step, step_per_epoch)


def cosine_decay_lr(
    min_lr: float, max_lr: float, total_step: int, step_per_epoch: int, decay_epoch: int
) -> list[float]:  # fmt: skip
    """Rates from max_lr to min_lr by half a wave."""
    _check_steps(total_step, step_per_epoch, decay_epoch, "cosine_decay_lr")
    check.non_negative_float(min_lr, "min_lr", "cosine_decay_lr")
    check.positive_float(max_lr, "max_lr", "cosine_decay_lr")
    if min_lr >= max_lr:
        raise ValueError(f"cosine_decay_lr(min_lr={min_lr}, max_lr={max_lr}): max_lr is above min_lr")

    def rate(epoch: int) -> float:
        return min_lr + 0.5 * (max_lr - min_lr) * (1 + math.cos(math.pi * min(epoch, decay_epoch) / decay_epoch))

    return _by_epoch(rate, total_step, step_per_epoch)


def polynomial_decay_lr(
    learning_rate: float, end_learning_rate: float, total_step: int, step_per_epoch: int, decay_epoch: int, power: float,
    update_decay_epoch: bool = False,
) -> list[float]:  # fmt: skip
    """Rates that fall to another by a power of the epochs that are left."""
    _check_steps(total_step, step_per_epoch, decay_epoch, "polynomial_decay_lr")
    check.positive_float(learning_rate, "learning_rate", "polynomial_decay_lr")
    check.non_negative_float(end_learning_rate, "end_learning_rate", "polynomial_decay_lr")
    check.positive_float(power, "power", "polynomial_decay_lr")
    check.flag(update_decay_epoch, "update_decay_epoch", "polynomial_decay_lr")

    def rate(epoch: int) -> float:
        epochs = decay_epoch * max(math.ceil(epoch / decay_epoch), 1) if update_decay_epoch else decay_epoch
        left = 1 - (epoch if update_decay_epoch else min(epoch, epochs)) / epochs
        return (learning_rate - end_learning_rate) * left**power + end_learning_rate

    return _by_epoch(rate, total_step, step_per_epoch)


def warmup_lr(learning_rate: float, total_step: int, step_per_epoch: int, warmup_epoch: int) -> list[float]:
    """Rates that rise from 0 in so many epochs."""
    _check_steps(total_step, step_per_epoch, warmup_epoch, "warmup_lr")
    check.non_negative_float(learning_rate, "learning_rate", "warmup_lr")
    return _by_epoch(lambda epoch: learning_rate * min(epoch, warmup_epoch) / warmup_epoch, total_step, step_per_epoch)


__all__ = [
    "cosine_decay_lr", "exponential_decay_lr", "inverse_decay_lr", "natural_exp_decay_lr", "piecewise_constant_lr",
    "polynomial_decay_lr", "warmup_lr",
]  # fmt: skip
