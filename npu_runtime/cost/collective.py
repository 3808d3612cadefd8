"""Cost of a collective."""

from __future__ import annotations

from npu_runtime.cost.task_cost import COLLECTIVE, TaskCost, Traffic
from npu_runtime.device.chip import Chip


def collective_cost(op: str, n_bytes: float, n_ranks: int, ranks_a_server: int, chip: Chip) -> TaskCost:
    steps = 2 * (n_ranks - 1) / max(1, n_ranks)
    return TaskCost(COLLECTIVE, 30.0 + steps * n_bytes / 30e3, traffic={"hbm": Traffic(n_bytes, n_bytes)}, bound="HCCL")
