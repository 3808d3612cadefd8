"""The shares of a predicted step's time, by the rule that measured steps are parted by too."""

from __future__ import annotations

from npu_formats.documents.step_shares import TimedTask, busiest_pipe, parts_of
from npu_runtime.cost.fitted import load_fitted
from npu_runtime.simulation.run_record import Iteration, TaskRun


def shares_of(step: Iteration, step_us: float) -> dict[str, float]:
    """Shares of a step by kind, which sum to 1.  step_us: microseconds from one step to the next."""
    return parts_of([_timed(run) for run in step.runs], step_us, step.issued[0])


def _timed(run: TaskRun) -> TimedTask:
    cost = run.task.cost
    busiest = cost.bound if cost.bound in cost.cycles else busiest_pipe(cost.cycles)
    return TimedTask(run.start, run.end, cost.engine, busiest, run.count * _start_us(run))


def _start_us(run: TaskRun) -> float:
    """Microseconds of one start, and of issuing it where the shapes are known only at run time."""
    return load_fitted().start_us + (load_fitted().issue_us if run.task.is_dynamic else 0.0)
