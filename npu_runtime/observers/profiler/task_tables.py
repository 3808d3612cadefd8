"""Tables of tasks beside op_summary: how long each took, and what operators of a kind took together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from npu_runtime.observers.profiler.clocks import TICK_NS, Clocks
from npu_runtime.observers.profiler.csv_files import microseconds, table, time_cell
from npu_runtime.observers.profiler.device_log import DeviceLog, LoggedTask
from npu_runtime.observers.profiler.raw.host import KERNEL_TYPES
from npu_runtime.observers.profiler.settings import LEVEL_1, ProfilingOptions

_TIMES = ["Total Time(us)", "Min Time(us)", "Avg Time(us)", "Max Time(us)", "Ratio(%)"]


def task_time(log: DeviceLog, clocks: Clocks, options: ProfilingOptions) -> Iterator[str]:
    """A row for each execution, by start. Without descriptions of nodes (level 0) a kind is the runtime's."""
    columns = [
        "Device_id",
        "kernel_name",
        "kernel_type",
        "stream_id",
        "task_id",
        "task_time(us)",
        "task_start(us)",
        "task_stop(us)",
    ]
    return table(columns, (_time_row(log, clocks, options, task) for task in log.tasks))


def _time_row(log: DeviceLog, clocks: Clocks, options: ProfilingOptions, task: LoggedTask) -> Sequence[Any]:
    numbered, kind = task.numbered, task.numbered.task.task_type
    if options.task_trace != LEVEL_1:
        kind = KERNEL_TYPES.get(kind, kind)
    return (
        log.run.device_id, numbered.task.name, kind, numbered.stream, numbered.task_id, microseconds(task.end - task.start),
        time_cell(clocks, task.start), time_cell(clocks, task.end),
    )  # fmt: skip


def op_statistic(log: DeviceLog) -> Iterator[str]:
    """The times of the operators of each type on each kind of core, the longest total first."""
    durations: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for task in log.tasks:
        if task.numbered.is_kernel:
            durations[task.numbered.task.op_type, task.numbered.task.task_type].append(task.end - task.start)
    columns = ["Device_id", "OP Type", "Core Type", "Count", *_TIMES]
    return table(columns, _totals(log.run.device_id, durations, _whole_average))


def communication_statistic(log: DeviceLog) -> Iterator[str]:
    """The times of the collectives of each type, the longest total first."""
    durations: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for task in collectives(log):
        durations[(task.numbered.task.op_type,)].append(task.end - task.start)
    return table(["Device_id", "OP Type", "Count", *_TIMES], _totals(log.run.device_id, durations, _average))


def collectives(log: DeviceLog) -> list[LoggedTask]:
    """The executions of collectives."""
    return [task for task in log.tasks if task.numbered.is_collective]


def _totals(
    device: int, durations: dict[tuple[str, ...], list[int]], average: Callable[[int, int], float]
) -> Iterator[Sequence[Any]]:
    whole = sum(sum(times) for times in durations.values())
    for kind, times in sorted(durations.items(), key=lambda entry: (-sum(entry[1]), entry[0])):
        total = sum(times)
        share = round(round(total / whole * 100, 6), 3) if whole else 0.0  # twice, as the vendor's parser does
        least, most = microseconds(min(times)), microseconds(max(times))
        yield device, *kind, len(times), microseconds(total), least, average(total, len(times)), most, share


def _whole_average(total: int, count: int) -> float:
    """Microseconds cut to whole nanoseconds: so the vendor's parser divides the times of operators."""
    return round(total * TICK_NS // count / 1000, 3)


def _average(total: int, count: int) -> float:
    """Microseconds rounded to nanoseconds: so it divides the times of collectives."""
    return round(total * TICK_NS / count / 1000, 3)


def aicpu(log: DeviceLog, clocks: Clocks) -> Iterator[str]:
    """A row for each execution on the AI CPU: the operator's own time, and what its dispatch added."""
    columns = [
        "Device_id", "Timestamp(us)", "Node", "Compute_time(us)", "Memcpy_time(us)", "Task_time(us)", "Dispatch_time(us)",
        "Total_time(us)", "Stream ID", "Task ID",
    ]  # fmt: skip
    return table(columns, _aicpu_rows(log.run.device_id, log.tasks, clocks))


def _aicpu_rows(device: int, tasks: Iterable[LoggedTask], clocks: Clocks) -> Iterator[Sequence[Any]]:
    for task in tasks:
        numbered = task.numbered
        if numbered.task.task_type == "AI_CPU":
            total = microseconds(task.end - task.start)
            compute = round(min(numbered.task.cost.us, total), 3)
            yield (
                device, time_cell(clocks, task.start), numbered.task.name, compute, 0.0, compute, round(total - compute, 3),
                total, numbered.stream, numbered.task_id,
            )  # fmt: skip
