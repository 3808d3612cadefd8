"""TimeMonitor."""

from __future__ import annotations

import sys
import time

from mindspore.train.callback._callback import Callback, RunContext


class TimeMonitor(Callback):
    """Prints the time of each epoch, and of its steps.

    data_size: the steps of an epoch, where the training does not tell them.
    """

    def __init__(self, data_size: int | None = None) -> None:
        self.data_size = data_size
        self.epoch_time = time.time()

    def epoch_begin(self, run_context: RunContext) -> None:
        self.epoch_time = time.time()

    def epoch_end(self, run_context: RunContext) -> None:
        spent = (time.time() - self.epoch_time) * 1000
        steps = run_context.original_args().get("batch_num") or self.data_size
        if not isinstance(steps, int) or steps < 1:
            print(f"mindspore: TimeMonitor(data_size={steps!r}): a whole number above 0", file=sys.stderr)
            return
        print(f"epoch time: {spent:5.3f} ms, per step time: {spent / steps:5.3f} ms", flush=True)
