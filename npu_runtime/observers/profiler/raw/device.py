"""The raw part of the device: task starts and ends, counters of AI cores, tags of steps. Times are ticks of its counter.

Source of the layouts: the vendor's public parser (Ascend/msprof, analysis/profiling_bean/struct_info).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from npu_runtime.observers.profiler.aic_metrics import counts
from npu_runtime.observers.profiler.device_log import DeviceLog, LoggedStep, LoggedTask

N_RUNNING = 16
"""Records are numbered modulo this, by which the parser notices lost ones."""
START, END = 0, 1
"""Tags of a task's two records."""
ENGINES = {"AI_CPU": 1}
"""Number of the engine of a task; every other kind is on the cores, 0."""
MODEL_START, MODEL_END, FORWARD, BACKWARD, STEP_END = 0, 1, 2, 3, 4
"""Tags of a step."""
REDUCE, GET_NEXT = 10000, 20000
"""Tags of the start of the first all-reduce and of taking a batch; the end is one more, the next all-reduce two more."""
_STEP_RECORD = 10
"""Kind of record in ts_track that has a step's tag."""

_TASK = struct.Struct("<BBHHHQ12I")
_CORE = struct.Struct("<BBHHHII10Q8I")
_TAG = struct.Struct("<BBHIQQQHHHH")


def task_file(log: DeviceLog) -> bytes:
    """hwts.data: a record for the start and one for the end of each task, by time."""
    moments = [moment for at, task in enumerate(log.tasks) for moment in _moments(at, task)]
    moments.sort(key=lambda moment: moment[:2])
    return b"".join(
        _TASK.pack(at % N_RUNNING << 4 | tag, ENGINES.get(task.numbered.task.task_type, 0), 0, 0, task.numbered.task_id, tick,
                   task.numbered.stream, *[0] * 11)
        for at, (tick, _, tag, task) in enumerate(moments)
    )  # fmt: skip


def _moments(at: int, task: LoggedTask) -> tuple[tuple[int, int, int, LoggedTask], ...]:
    """At equal ticks the end of a task comes before the start of a later one, and after its own start."""
    return (task.start, 2 * at, START, task), (task.end, 2 * at + 1, END, task)


def core_file(log: DeviceLog, group: str) -> bytes:
    """aicore.data: a record for each execution of a task of the AI cores, in the order of their starts."""
    slots = {id(task): counts(group, task.task) for model in log.models for task in model.tasks if task.has_counters}
    counted = [task.numbered for task in log.tasks if task.numbered.has_counters]
    return b"".join(
        _CORE.pack(at % N_RUNNING << 4, 0, 0, 0, numbered.task_id, 0, 0, round(numbered.task.cost.total_cycles), 0,
                   *slots[id(numbered)], numbered.stream, *[0] * 7)
        for at, numbered in enumerate(counted)
    )  # fmt: skip


def step_file(log: DeviceLog) -> bytes:
    """ts_track.data: the tags of each step by time."""
    tags = [tag for step in log.steps for tag in _tags(step)]
    tags.sort(key=lambda tag: (tag[0], tag[1].end))
    return b"".join(
        _TAG.pack(0, _STEP_RECORD, _TAG.size, 0, tick, step.number, step.model_id, 0, 0, tag, 0) for tick, step, tag in tags
    )


def _tags(step: LoggedStep) -> Iterator[tuple[int, LoggedStep, int]]:
    yield step.start, step, MODEL_START
    if step.get_next:
        yield step.get_next[0], step, GET_NEXT
        yield step.get_next[1], step, GET_NEXT + 1
    if step.fp is not None:
        yield step.fp, step, FORWARD
    if step.bp is not None:
        yield step.bp, step, BACKWARD
    for number, (start, end) in enumerate(step.reduces):
        yield start, step, REDUCE + 2 * number
        yield end, step, REDUCE + 2 * number + 1
    yield step.end, step, STEP_END
    yield step.end, step, MODEL_END
