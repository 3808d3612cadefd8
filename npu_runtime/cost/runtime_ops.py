"""Cost of what the runtime does itself: switches of conditionals, and turns of loops."""

from __future__ import annotations

from npu_runtime.cost.task_cost import RUNTIME, TaskCost

SCHEDULER_US = 1.9
"""Microseconds of a task that only the task scheduler does: a stream that has nothing to do is waited for as long on a chip with
30 cores (published beside the smallest task, C50 of docs/device_model.md).  Assumed for switches, which no source measures."""
_TASKS = {"_While": 2, "Switch": 1, "RefSwitch": 1, "Merge": 1, "RefMerge": 1}
"""Tasks of the scheduler for an op: a conditional switches streams and is joined, a turn of a loop tests its condition and
activates the stream of its body.  Source: the stream operators of the graph engine."""


def runtime_cost(op: str) -> TaskCost:
    """Microseconds of an op of the runtime engine; of a loop, those of its last test."""
    return TaskCost(RUNTIME, SCHEDULER_US * _TASKS.get(op, 1), bound="start")


def loop_turn_cost() -> TaskCost:
    """Microseconds of one turn of a loop beside the tasks of its body."""
    return runtime_cost("_While")
