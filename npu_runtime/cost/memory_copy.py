"""Cost of copies between host and device."""

from __future__ import annotations

from npu_formats.device.chip import Chip
from npu_runtime.cost.fitted import Fitted, load_fitted
from npu_runtime.cost.task_cost import COPY, TaskCost, Traffic

TO_DEVICE, TO_HOST = "host to device", "device to host"


def copy_cost(n_bytes: float, direction: str, chip: Chip, fitted: Fitted | None = None) -> TaskCost:
    """Microseconds of one copy of so many bytes, TO_DEVICE or TO_HOST.

    It starts as every task does, and then goes on at the chip's rate to its host, which was measured in one direction; the other
    one is assumed to be as fast.  Host memory is taken to be registered with the device, as the adapter's buffers are; from other
    memory a copy takes up to twice as long.
    """
    us = (fitted or load_fitted()).start_us + n_bytes / (chip.host_gb_per_s * 1e3)
    moved = Traffic(0.0, n_bytes) if direction == TO_DEVICE else Traffic(n_bytes, 0.0)
    return TaskCost(COPY, us, traffic={"hbm": moved}, bound="PCIe")
