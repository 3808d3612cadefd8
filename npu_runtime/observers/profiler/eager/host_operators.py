"""Calls of PyTorch's operators on a timeline, each with the tasks that it launched.

How long the host takes for a call is not known. So a call is drawn as if the host were never late: it begins with its first task
in the stream of the computations, and ends with its last one there, or where the next call begins. Masks of dropout and
collectives are in streams beside it: a mask may start before its call, as it needs nothing.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from npu_runtime.observers.profiler.device_log import DeviceLog, LoggedTask
from npu_runtime.simulation.eager_device import EagerRecord, HostCall


@dataclass(frozen=True)
class HostOperator:
    """A call.  iteration: of the device.  start, end: ticks.  tasks: that it launched, by start; none for a view.  n_bytes: in
    use on the device behind it, None where that is not known.
    """

    call: HostCall
    iteration: int
    start: int
    end: int
    tasks: tuple[LoggedTask, ...]
    n_bytes: int | None


def host_operators(record: EagerRecord, log: DeviceLog) -> list[HostOperator]:
    """The calls of all steps that have their tasks, in order. No two begin in the same tick."""
    launched = _launched(record, log)
    calls = [(number, at, call) for number, calls in sorted(record.calls.items()) for at, call in enumerate(calls)]
    after = max((task.end for task in log.tasks), default=0)
    made: list[HostOperator] = []
    for number, at, call in reversed(calls):
        tasks = launched.get((number, at), ())
        main = [task for task in tasks if task.numbered.task.stream == 0]
        start = min([after - 1, *(task.start for task in main)])
        end = max((task.end for task in main), default=start + 1)
        n_bytes = record.memory[number][at] if number in record.memory else None
        made.append(HostOperator(call, number, start, min(end, after), tuple(tasks), n_bytes))
        after = start
    return made[::-1]


def _launched(record: EagerRecord, log: DeviceLog) -> dict[tuple[int, int], list[LoggedTask]]:
    """The executions by the step and the position of the call that launched them: the first of those that a task is part of."""
    found: dict[tuple[int, int], list[LoggedTask]] = defaultdict(list)
    for task in log.tasks:
        positions = record.calls_of.get(task.numbered.task.task_id, ())
        if positions:
            found[task.iteration, positions[0]].append(task)
    return found
