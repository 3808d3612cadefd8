"""Cost of copies between host and device."""

from __future__ import annotations

from npu_runtime.cost.task_cost import COPY, TaskCost, Traffic
from npu_runtime.device.chip import Chip

TO_DEVICE, TO_HOST = "host to device", "device to host"


def copy_cost(n_bytes: float, direction: str, chip: Chip) -> TaskCost:
    return TaskCost(COPY, 10.0 + n_bytes / 12e3, traffic={"hbm": Traffic(0.0, n_bytes)}, bound="PCIe")
