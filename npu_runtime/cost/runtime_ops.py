"""Cost of what the runtime does itself."""

from __future__ import annotations

from npu_runtime.cost.task_cost import RUNTIME, TaskCost


def runtime_cost(op: str) -> TaskCost:
    return TaskCost(RUNTIME, 5.0, bound="start")
