"""Cost of a task of the AI CPU."""

from __future__ import annotations

from npu_runtime.cost.task_cost import AI_CPU, TaskCost, Traffic
from npu_runtime.device.chip import Chip

START_US = 20.0
BYTES_PER_US = 4000.0
FLOPS_PER_US = 4000.0


def ai_cpu_cost(read_bytes: float, written_bytes: float, flops: float, chip: Chip) -> TaskCost:
    us = START_US + max((read_bytes + written_bytes) / BYTES_PER_US, flops / FLOPS_PER_US) / chip.ai_cpu_cores
    return TaskCost(AI_CPU, us, traffic={"hbm": Traffic(read_bytes, written_bytes)}, flops=flops, bound="AI CPU")
