"""LossMonitor."""

from __future__ import annotations

from typing import Any

import numpy as np
from mindspore.common.tensor import Tensor
from mindspore.train.callback._callback import Callback, RunContext, step_in_epoch


class LossMonitor(Callback):
    """Prints the loss every so many steps, 0 for never.  Raises: ValueError for a loss that is no number any more."""

    def __init__(self, per_print_times: int = 1) -> None:
        if not isinstance(per_print_times, int) or per_print_times < 0:
            raise ValueError(f"LossMonitor(per_print_times={per_print_times!r}): a whole number, 0 or more")
        self._per_print_times = per_print_times

    def step_end(self, run_context: RunContext) -> None:
        told = run_context.original_args()
        loss = _first_number(told.net_outputs)
        where = f"epoch: {told.cur_epoch_num} step: {step_in_epoch(told)}"
        if isinstance(loss, (float, np.floating)) and not np.isfinite(loss):
            raise ValueError(
                f"{where}. Invalid loss, terminating training: the loss is {loss!s}: lower the learning rate, or use a loss "
                "scale that drops updates which overflow"
            )
        if self._per_print_times and told.cur_step_num % self._per_print_times == 0:
            print(f"{where}, loss is {loss!s}", flush=True)


def _first_number(outputs: Any) -> Any:
    """The mean of the first output."""
    if isinstance(outputs, (tuple, list)) and outputs and isinstance(outputs[0], Tensor):
        outputs = outputs[0]
    return np.mean(outputs.asnumpy()) if isinstance(outputs, Tensor) else outputs
