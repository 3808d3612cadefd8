"""Learning rates of optimizers: a parameter, or a cell of the step."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from mindspore import _checkparam as check
from mindspore._device.operation import apply
from mindspore.common.dtype import float32
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.learning_rate_schedule import LearningRateSchedule
from npu_bridge.npu_init import tf


def read(rate: Any, owner: str) -> Any:
    """A rate as a float, a tensor or a schedule.  Raises: TypeError, ValueError for anything else."""
    if isinstance(rate, (int, float)):
        return check.non_negative_float(float(rate), "learning_rate", owner)
    if isinstance(rate, LearningRateSchedule):
        return rate
    if isinstance(rate, Tensor):
        if rate.ndim > 1:
            raise ValueError(
                f"{owner}(learning_rate=...): a tensor of one axis, or of none, is needed; its shape is {rate.shape}"
            )
        return rate
    if isinstance(rate, Iterable) and not isinstance(rate, str):
        return Tensor(np.array(list(rate), np.float32))
    raise TypeError(f"{owner}(learning_rate={rate!r}): a number, a tensor, numbers or a LearningRateSchedule is needed")


def is_dynamic(rate: Any) -> bool:
    """Whether a rate changes from step to step."""
    return isinstance(rate, LearningRateSchedule) or (isinstance(rate, Tensor) and rate.ndim == 1)


def built(rate: Any, name: str) -> Any:
    """The parameter of a rate, or the cell of one that changes."""
    if isinstance(rate, LearningRateSchedule):
        return rate
    if isinstance(rate, Tensor) and rate.ndim == 1:
        return IteratorLearningRate(rate, name)
    return Parameter(rate if isinstance(rate, Tensor) else Tensor(rate, float32), name)


class IteratorLearningRate(LearningRateSchedule):
    """The rates of a tensor, one for each step; the step after the last stops the run."""

    def __init__(self, learning_rate: Tensor, name: str) -> None:
        super().__init__()
        self.learning_rate = Parameter(learning_rate, name)

    def construct(self, global_step: Any) -> Any:
        length = self.learning_rate.shape[0]

        def rate_of(rates: Any, step: Any) -> Any:
            message = (
                f"the learning rate has {length} values, one for each step, and this is the step after them: "
                "give it as many values as there are steps. The number of the step, from 0 on"
            )
            with tf.control_dependencies([tf.Assert(tf.reduce_all(step < length), [message, step])]):
                return tf.gather(rates, tf.minimum(step, length - 1))

        return apply(("rate of the step", length), rate_of, self.learning_rate, global_step)


class ConvertToCell(LearningRateSchedule):
    """A rate that does not change, among others that do."""

    def __init__(self, learning_rate: Parameter) -> None:
        super().__init__()
        self.learning_rate = learning_rate

    def construct(self, global_step: Any) -> Any:
        return apply("rate", tf.identity, self.learning_rate)
