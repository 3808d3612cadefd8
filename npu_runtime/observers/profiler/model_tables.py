"""Tables of compiled models: which nodes became one operator, and the memory that each operator's results take."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from npu_runtime.observers.profiler.csv_files import table
from npu_runtime.observers.profiler.device_log import DeviceLog, LoggedModel
from npu_runtime.observers.profiler.element_types import item_bytes
from npu_runtime.simulation.run_record import ModelRun, TensorDescription

_KILOBYTE = 1024
"""Bytes of the unit of memory columns."""


def fusion_op(log: DeviceLog) -> Iterator[str]:
    """A row for each operator that several nodes were fused into. The simulation keeps weights among the inputs."""
    columns = [
        "Device_id", "Model Name", "Model ID", "Fusion Op", "Original Ops", "Memory Input(KB)", "Memory Output(KB)",
        "Memory Weight(KB)", "Memory Workspace(KB)", "Memory Total(KB)",
    ]  # fmt: skip
    return table(columns, (cells for model in log.models for cells in _fused(log.run.device_id, model)))


def has_fused(log: DeviceLog) -> bool:
    """Whether any operator was fused of several nodes."""
    return any(len(entry.task.members) > 1 for model in log.models for entry in model.tasks)


def _fused(device: int, model: LoggedModel) -> Iterator[Sequence[Any]]:
    for entry in model.tasks:
        task = entry.task
        if len(task.members) > 1:
            read, written = _kilobytes(task.inputs), _kilobytes(task.outputs)
            members = ";".join(task.members)
            total = round(read + written, 3)
            yield device, model.run.name, model.run.model_id, task.name, members, read, written, 0.0, 0.0, total


def _kilobytes(tensors: Sequence[TensorDescription]) -> float:
    return round(sum(math.prod(tensor.shape) * item_bytes(tensor.dtype) for tensor in tensors) / _KILOBYTE, 3)


def static_op_mem(log: DeviceLog) -> Iterator[str]:
    """A row for each buffer of a model and, last of the model, the most that its buffers take at one time."""
    columns = ["Device_id", "Op Name", "Model Name", "Graph ID", "Node Index Start", "Node Index End", "Size(KB)"]
    return table(columns, (cells for model in log.models for cells in _memory(log.run.device_id, model.run)))


def _memory(device: int, model: ModelRun) -> Iterator[Sequence[Any]]:
    for name, n_bytes, first, last in model.memory:
        yield device, name, model.name, model.model_id, first, last, round(n_bytes / _KILOBYTE, 3)
    if model.memory:
        last = max(end for _, _, _, end in model.memory)
        yield device, "TOTAL", model.name, model.model_id, 0, last, round(_peak_bytes(model) / _KILOBYTE, 3)


def _peak_bytes(model: ModelRun) -> int:
    changes = [(first, n_bytes) for _, n_bytes, first, _ in model.memory]
    changes += [(last + 1, -n_bytes) for _, n_bytes, _, last in model.memory]
    alive = peak = 0
    for _, change in sorted(changes):
        alive += change
        peak = max(peak, alive)
    return peak
