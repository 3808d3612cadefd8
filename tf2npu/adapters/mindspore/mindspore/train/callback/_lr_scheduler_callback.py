"""LearningRateScheduler."""

from __future__ import annotations

import math
from collections.abc import Callable

from mindspore.common.dtype import float32
from mindspore.common.tensor import Tensor
from mindspore.train.callback._callback import Callback, RunContext


class LearningRateScheduler(Callback):
    """Changes the learning rate after steps: the function gets the rate and the number of the step."""

    def __init__(self, learning_rate_function: Callable[[float, int], float]) -> None:
        self.learning_rate_function = learning_rate_function

    def step_end(self, run_context: RunContext) -> None:
        told = run_context.original_args()
        rate = told.optimizer.learning_rate
        before = float(rate.asnumpy())
        after = self.learning_rate_function(before, told.cur_step_num)
        if not math.isclose(before, after, rel_tol=1e-10):
            rate.set_data(Tensor(after, float32))
            print(f"At step {told.cur_step_num}, learning_rate change to {after}")
