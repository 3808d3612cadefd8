"""Cost of what the host does for a step: issuing it, and taking a batch for it."""

from __future__ import annotations

from npu_formats.device.chip import Chip
from npu_runtime.cost.fitted import Fitted, load_fitted
from npu_runtime.cost.memory_copy import TO_DEVICE, copy_cost
from npu_runtime.cost.task_cost import COPY, HOST, TaskCost, Traffic


def issue_cost(fitted: Fitted | None = None) -> TaskCost:
    """Microseconds of the host to issue a graph that the device has, or a single task: one call of the runtime either way.

    What Python and TensorFlow do before that call is not in it: it depends on the script.
    """
    return TaskCost(HOST, (fitted or load_fitted()).issue_us, bound="start")


def get_next_cost(n_bytes: float, is_queued: bool, chip: Chip, fitted: Fitted | None = None) -> TaskCost:
    """Microseconds to take a batch of so many bytes.

    is_queued: whether the host has put it into a queue in device memory before (option enable_data_pre_proc), from where a task
    copies it; else it comes from the host within the step.
    """
    if not is_queued:
        return copy_cost(n_bytes, TO_DEVICE, chip, fitted)
    fitted = fitted or load_fitted()
    us = fitted.start_us + 2.0 * n_bytes / (chip.hbm_gb_per_s * 1e3 * fitted.hbm_share)
    return TaskCost(COPY, us, traffic={"hbm": Traffic(n_bytes, n_bytes)}, bound="mte2")
