"""The timeline of a device and its host: calls, tasks by stream, steps, collectives, and how computing overlaps with these."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from npu_formats.intervals import Interval, difference, union
from npu_runtime.observers.profiler.clocks import tick_ns
from npu_runtime.observers.profiler.communication_timeline import communication_events
from npu_runtime.observers.profiler.device_log import DeviceLog, LoggedTask
from npu_runtime.observers.profiler.host_log import LEVEL_NAMES, HostCall, HostLog, Launch
from npu_runtime.observers.profiler.settings import OFF, ProfilingOptions
from npu_runtime.observers.profiler.step_timeline import StepTracks
from npu_runtime.observers.profiler.task_tables import collectives
from npu_runtime.observers.profiler.trace_events import (
    HOST_DEVICE,
    Process,
    at_raw,
    at_tick,
    document,
    flow_event,
    slice_event,
    tick_duration,
)

_CANN, _HARDWARE, _OVERLAP = 7, 14, 20
"""Places of the groups from the top. Source: the vendor's exported timelines."""
_NO_SUBTASK = 4294967295
"""Value for a task that has no parts."""
FLOW = "HostToDevice"
"""Category of the arrows from a launch to each execution of its task."""


def timeline(log: DeviceLog, host: HostLog, options: ProfilingOptions) -> Iterator[str]:
    """The whole timeline as JSON, an event a line."""
    return document(_events(log, host, options))


def _events(log: DeviceLog, host: HostLog, options: ProfilingOptions) -> Iterator[str]:
    cann = Process("CANN", _CANN, "CPU", HOST_DEVICE)
    hardware = hardware_process(log)
    steps = StepTracks(log, hardware) if options.training_trace else None
    with_tasks = options.task_trace != OFF
    streams = {task.numbered.stream: f"Stream {task.numbered.stream}" for task in log.tasks} if with_tasks else {}
    yield from cann.head({thread: f"Thread {thread}" for thread in range(1, host.n_threads + 1)})
    yield from hardware.head(dict(sorted(streams.items())) | (steps.threads() if steps else {}))
    yield from _calls(cann, host)
    if with_tasks:
        yield from _tasks(log, host, cann, hardware)
        yield from overlap_events(log)
    if steps:
        yield from steps.events()
    if options.with_collectives:
        yield from communication_events(log, {key: number for key, (_, number) in _launches(host).items()})


def hardware_process(log: DeviceLog) -> Process:
    """The group of tracks of the device's streams."""
    device = log.run.device_id
    return Process("Ascend Hardware", _HARDWARE, f"NPU {device}", device)


def _calls(cann: Process, host: HostLog) -> Iterator[str]:
    for connection, call in enumerate(host.calls()):
        level = LEVEL_NAMES[call.level]
        args = {"Thread Id": call.thread, "Mode": call.name, "level": level, "id": "0", "item_id": str(call.item)}
        args["connection_id"] = connection
        name = f"{level.capitalize()}@{call.name}"
        yield slice_event(cann, call.thread, name, at_raw(call.begin), _ns_duration(call), args)


def _ns_duration(call: HostCall) -> str:
    length = call.end - call.begin
    return f"{length // 1000}.{length % 1000:03d}"


def _tasks(log: DeviceLog, host: HostLog, cann: Process, hardware: Process) -> Iterator[str]:
    """Each execution, and an arrow of its own from the launch; none where the record has a task start before its launch.

    What a task has in every execution is made once.
    """
    launches = _launches(host)
    made: dict[int, tuple[str, str]] = {}
    for number, task in enumerate(log.tasks):
        key = id(task.numbered)
        if key not in made:
            made[key] = _front_and_back(task, *launches[key], hardware)
        front, back = made[key]
        ts = at_tick(task.start)
        yield f'{front}{ts}", "dur": {tick_duration(task.end - task.start)}{back}'
        launch, tid = launches[key][0], task.numbered.stream
        if launch.runtime.begin > tick_ns(task.start):
            continue
        name, from_ts = f"{FLOW}{number}", at_raw(launch.runtime.begin)
        yield flow_event(cann, launch.runtime.thread, name, from_ts, str(number), FLOW, begins=True)
        yield flow_event(hardware, tid, name, ts, str(number), FLOW, begins=False)


def task_slices(log: DeviceLog, hardware: Process) -> Iterator[str]:
    """Each execution alone, numbered by its place."""
    for number, task in enumerate(log.tasks):
        length = tick_duration(task.end - task.start)
        args = _arguments(task, number)
        yield slice_event(hardware, task.numbered.stream, task.numbered.task.name, at_tick(task.start), length, args)


def _launches(host: HostLog) -> dict[int, tuple[Launch, int]]:
    """The launch of each task, and the number of its call, by the identity of the numbered task."""
    found, connection = {}, 0
    for launches in host.launches:
        connection += 1
        for launch in launches:
            found[id(launch.numbered)] = launch, connection
            connection += len(launch.calls())
    return found


def _front_and_back(task: LoggedTask, launch: Launch, connection: int, hardware: Process) -> tuple[str, str]:
    numbered, args = task.numbered, _arguments(task, connection)
    name = json.dumps(numbered.task.name)
    front = f'{{"name": {name}, "pid": {hardware.pid}, "tid": {numbered.stream}, "ts": "'
    return front, f', "args": {json.dumps(args)}, "ph": "X"}}'


def _arguments(task: LoggedTask, connection: int) -> dict[str, Any]:
    """The arguments of a task's slice.  connection: number of its launch."""
    numbered = task.numbered
    args = {
        "Model Id": numbered.model_id, "Task Type": numbered.task.task_type, "Physic Stream Id": numbered.stream,
        "Task Id": numbered.task_id, "Batch Id": 0, "Subtask Id": _NO_SUBTASK, "connection_id": connection,
    }  # fmt: skip
    return args | ({"Source": numbered.task.source} if numbered.task.source else {})


def overlap_events(log: DeviceLog) -> Iterator[str]:
    """The intervals in which the device computes, in which it communicates, does the latter alone, and does nothing."""
    computing = union((task.start, task.end) for task in log.tasks if task.numbered.is_kernel)
    communication = union((task.start, task.end) for task in collectives(log))
    if not computing and not communication:
        return
    busy = union([*computing, *communication])
    rows: dict[str, list[Interval]] = {"Computing": computing}
    if communication:
        rows |= {"Communication": communication, "Communication(Not Overlapped)": difference(communication, computing)}
    rows["Free"] = difference([(busy[0][0], busy[-1][1])], busy)
    process = Process("Overlap Analysis", _OVERLAP, f"NPU {log.run.device_id}", log.run.device_id)
    yield from process.head(dict(enumerate(rows)))
    for tid, (name, intervals) in enumerate(rows.items()):
        for start, end in intervals:
            yield slice_event(process, tid, name, at_tick(start), tick_duration(end - start))
