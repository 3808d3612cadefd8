"""step_trace_time.csv: into what the time of each step of the script goes, computing and communicating beside each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from npu_formats.intervals import Interval, difference, union
from npu_runtime.observers.profiler.clocks import TICK_NS
from npu_runtime.observers.profiler.csv_files import table
from npu_runtime.observers.profiler.device_log import LoggedTask
from npu_runtime.observers.profiler.eager.eager_profile import EagerProfile

_COLUMNS = (
    "Device_id", "Step", "Computing", "Communication(Not Overlapped)", "Overlapped", "Communication", "Free", "Stage", "Bubble",
    "Communication(Not Overlapped and Exclude Receive)", "Preparing",
)  # fmt: skip


def step_trace_time(profile: EagerProfile) -> Iterator[str]:
    """A row for each step that the script counts, one for all where it does not. Microseconds."""
    steps: dict[int | None, list[LoggedTask]] = {}
    for task in profile.log.tasks:
        steps.setdefault(profile.step_of(task.iteration), []).append(task)
    begins: dict[int | None, int] = {}
    for operator in profile.operators:
        begins.setdefault(profile.step_of(operator.iteration), operator.start)
    return table(_COLUMNS, (_row(profile, step, tasks, begins[step]) for step, tasks in steps.items()))


def _row(profile: EagerProfile, step: int | None, tasks: Sequence[LoggedTask], begin: int) -> Sequence[Any]:
    """No device waits for another one's data here but in collectives, so that there is no bubble."""
    computing = _busy(task for task in tasks if task.numbered.is_kernel)
    communication = _busy(task for task in tasks if task.numbered.is_collective)
    alone, busy = difference(communication, computing), union([*computing, *communication])
    first, last = (busy[0][0], busy[-1][1]) if busy else (begin, begin)
    free = _us(difference([(first, last)], busy)) if busy else 0.0
    overlapped = round(_us(communication) - _us(alone), 3)
    return (
        profile.log.run.device_id, "" if step is None else step, _us(computing), _us(alone), overlapped, _us(communication), free,
        _us([(first, last)]), 0.0, _us(alone), _us([(begin, first)]),
    )  # fmt: skip


def _busy(tasks: Iterable[LoggedTask]) -> list[Interval[int]]:
    return union((task.start, task.end) for task in tasks)


def _us(intervals: Iterable[Interval[int]]) -> float:
    return round(sum(end - start for start, end in intervals) * TICK_NS / 1000, 3)
