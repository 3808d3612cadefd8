"""step_trace: where the time of each iteration went, as figure 5-21 of the textbook has it.

Iteration time is t(N+1)6 - tN6, the tail of data augmentation t(N+1)1 - tN6, forward and backward pass tN2 - tN1, the tail of
aggregation and update tN6 - tN2. The first iteration of a model has no end before it and counts from its forward pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from npu_runtime.observers.profiler.clocks import TICKS_PER_US, Clocks
from npu_runtime.observers.profiler.counter_columns import NOT_AVAILABLE
from npu_runtime.observers.profiler.csv_files import microseconds, table, time_cell
from npu_runtime.observers.profiler.device_log import DeviceLog, LoggedStep

_COLUMNS = [
    "Device_id", "Iteration ID", "FP Start(us)", "BP End(us)", "Iteration End(us)", "Iteration Time(us)", "FP to BP Time(us)",
    "Iteration Refresh(us)", "Data Aug Bound(us)", "Model ID",
]  # fmt: skip


def step_trace(log: DeviceLog, clocks: Clocks) -> Iterator[str]:
    """A row for each iteration, by its end. Each all-reduce of the step that has most adds two columns."""
    n_reduces = max((len(step.reduces) for step in log.steps), default=0)
    columns = [*_COLUMNS, *["Reduce Start(us)", "Reduce Duration(us)"] * n_reduces]
    return table(columns, (_row(log.run.device_id, clocks, step, n_reduces) for step in log.steps))


def _row(device: int, clocks: Clocks, step: LoggedStep, n_reduces: int) -> Sequence[Any]:
    refresh = None if step.bp is None else step.end - step.bp
    through = None if step.bp is None or step.fp is None else step.bp - step.fp
    reduces: list[Any] = [cell for start, end in step.reduces for cell in (time_cell(clocks, start), microseconds(end - start))]
    reduces += [NOT_AVAILABLE] * (2 * n_reduces - len(reduces))
    return (
        device, step.number, _point(clocks, step.fp), _point(clocks, step.bp), time_cell(clocks, step.end),
        duration(step.end - step.start), duration(through), duration(refresh), duration(step.bound), step.model_id, *reduces,
    )  # fmt: skip


def _point(clocks: Clocks, tick: int | None) -> str:
    return NOT_AVAILABLE if tick is None else time_cell(clocks, tick)


def duration(ticks: int | None) -> float | str:
    """Microseconds, or N/A for a model without that pass."""
    return NOT_AVAILABLE if ticks is None else ticks / TICKS_PER_US
