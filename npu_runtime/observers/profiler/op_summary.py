"""op_summary: a row for each execution of an operator, with its tensors and the counters of its cores.

Columns, rounding and quoting are those of the vendor's public parser, whose export of the raw part has the same cells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from npu_formats.device.chip import Chip
from npu_runtime.observers.profiler.clocks import TICK_NS, Clocks
from npu_runtime.observers.profiler.collective_names import CollectiveNames
from npu_runtime.observers.profiler.counter_columns import NOT_AVAILABLE, cube_utilization
from npu_runtime.observers.profiler.counters_of_chip import ChipCounters
from npu_runtime.observers.profiler.csv_files import microseconds, row, time_cell
from npu_runtime.observers.profiler.device_log import DeviceLog, LoggedTask, NumberedTask
from npu_runtime.observers.profiler.element_types import type_name
from npu_runtime.observers.profiler.settings import LEVEL_1, ProfilingOptions
from npu_runtime.simulation.run_record import DeviceTask, TensorDescription

_HEAD = [
    "Device_id", "Model ID", "Task ID", "Stream ID", "Op Name", "OP Type", "OP State", "Task Type", "Task Start Time(us)",
    "Task Duration(us)", "Task Wait Time(us)", "Block Num",
]  # fmt: skip
_TENSORS = [
    "Input Shapes", "Input Data Types", "Input Formats", "Output Shapes", "Output Data Types", "Output Formats",
]  # fmt: skip


def is_split(chip: Chip) -> bool:
    """Whether vector units are cores of their own, as on the 910B family."""
    return chip.n_vector_cores != chip.n_cores


def in_summary(numbered: NumberedTask, options: ProfilingOptions) -> bool:
    """Operators have rows; copies have none; collectives have when they are collected."""
    return numbered.is_kernel or (options.with_collectives and numbered.is_collective)


def op_summary(log: DeviceLog, clocks: Clocks, options: ProfilingOptions) -> Iterator[str]:
    """The table line by line, by start."""
    split, level_1 = is_split(log.chip), options.task_trace == LEVEL_1
    counters = ChipCounters(log.chip, options.aic_metrics, split) if level_1 else None
    mixed, context = (["Mix Block Num"], ["Context ID"]) if split else ([], [])
    yield row([*_HEAD, *mixed, "HF32 Eligible", *_TENSORS, *context, *(counters.columns if counters else [])])
    fixed = _FixedCells(log, split, counters)
    before: LoggedTask | None = None
    for task in log.tasks:
        if not in_summary(task.numbered, options):
            continue
        front, back, counted = fixed.of(task)
        wait = 0 if before is None else microseconds(max(task.start - before.end, 0))
        start, duration = time_cell(clocks, task.start), microseconds(task.end - task.start)
        yield f"{front},{start},{duration},{wait},{back}{counted(task)}\n"
        before = task


class _FixedCells:
    """Cells that are the same in every execution of a task, made once: of a loop of many steps they are most of the work."""

    def __init__(self, log: DeviceLog, split: bool, counters: ChipCounters | None) -> None:
        self._device, self._split, self._counters = log.run.device_id, split, counters
        self._chip = log.chip
        self._collectives = CollectiveNames(log)
        self._made: dict[int, tuple[str, str, Callable[[LoggedTask], str]]] = {}

    def of(self, task: LoggedTask) -> tuple[str, str, Callable[[LoggedTask], str]]:
        """Text before the times, text behind them, and what gives the counters of an execution."""
        numbered = task.numbered
        if numbered.is_collective:
            return self._make(numbered, self._collectives.next_name(numbered))
        found = self._made.get(id(numbered))
        if found is None:
            found = self._made[id(numbered)] = self._make(numbered, numbered.task.name)
        return found

    def _make(self, numbered: NumberedTask, name: str) -> tuple[str, str, Callable[[LoggedTask], str]]:
        """The function that makes the rows of a task. A collective is many tasks on the device: neither numbers nor tensors of it
        are told."""
        task, full = numbered.task, self._counters is not None
        told = full and not numbered.is_collective
        ids = [NOT_AVAILABLE] * 2 if numbered.is_collective else [numbered.task_id, numbered.stream]
        front = [self._device, numbered.model_id, *ids, name, *_kind(task, full)]
        blocks, mixed = (task.cost.n_blocks if told else 0), ([0] if self._split else [])
        tensors = [*_described(task.inputs), *_described(task.outputs)] if told else [NOT_AVAILABLE] * len(_TENSORS)
        eligible = "NO" if told else NOT_AVAILABLE
        back = [blocks, *mixed, eligible, *tensors, *([NOT_AVAILABLE] if self._split else [])]
        return row(front)[:-1], row(back)[:-1], self._counted(numbered)

    def _counted(self, numbered: NumberedTask) -> Callable[[LoggedTask], str]:
        counters = self._counters
        if counters is None:
            return lambda task: ""
        if not numbered.has_counters:
            absent = f",{NOT_AVAILABLE}" * len(counters.columns)
            return lambda task: absent
        cells, mac_ratio = counters.cells(numbered.task)
        text = "".join(f",{cell}" for cell in cells)
        if not counters.has_utilization:
            return lambda task: text
        return lambda task: f"{text},{cube_utilization(numbered.task, (task.end - task.start) * TICK_NS, mac_ratio, self._chip)}"


def _kind(task: DeviceTask, full: bool) -> Sequence[str]:
    if not full:
        return [NOT_AVAILABLE] * 3
    state = "dynamic" if task.is_dynamic else "static"
    return [task.op_type, NOT_AVAILABLE if task.task_type == "COMMUNICATION" else state, task.task_type]


def _described(tensors: Sequence[TensorDescription]) -> list[str]:
    """Shapes between quotation marks that are part of the value, element types and formats.

    A tensor without elements loses its extents of 0, which stand for absent ones in a raw record.
    """
    if not tensors:
        return [NOT_AVAILABLE] * 3
    shapes = ";".join(",".join(str(size) for size in tensor.shape if size) for tensor in tensors)
    types = ";".join(type_name(tensor.dtype) for tensor in tensors)
    return [f'"{shapes}"', types, ";".join(tensor.format for tensor in tensors)]
