"""trace_view.json: operators of the script above the tasks of the device, with an arrow from each call to what it launched."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from npu_runtime.observers.profiler.communication_timeline import communication_events
from npu_runtime.observers.profiler.eager.eager_profile import EagerProfile
from npu_runtime.observers.profiler.eager.host_operators import HostOperator
from npu_runtime.observers.profiler.eager.operator_details import input_shapes, input_types
from npu_runtime.observers.profiler.timeline import hardware_process, overlap_events, task_slices
from npu_runtime.observers.profiler.trace_events import (
    HOST_DEVICE,
    Process,
    at_tick,
    document,
    flow_event,
    slice_event,
    tick_duration,
)

_PYTHON = 0
"""Place of the script's group from the top. Source: torch_npu, analysis/prof_common_func/_trace_event_manager.py."""
_THREAD = 1
OPERATOR, FLOW, FLOW_NAME = "cpu_op", "async_npu", "torch_to_npu"
"""Categories of calls and arrows, and the name of arrows. Source: as above."""


def trace_view(profile: EagerProfile) -> Iterator[str]:
    """The timeline as JSON, an event a line. Times count from the begin of the collection."""
    return document(_events(profile))


def _events(profile: EagerProfile) -> Iterator[str]:
    python = Process("Python", _PYTHON, "CPU", HOST_DEVICE)
    hardware = hardware_process(profile.log)
    if profile.options.with_host:
        yield from python.head({_THREAD: f"Thread {_THREAD}"})
        yield from _steps(profile, python)
        for operator in profile.operators:
            yield _call(profile, operator, python)
    if not profile.options.with_device:
        return
    streams = {task.numbered.stream: f"Stream {task.numbered.stream}" for task in profile.log.tasks}
    yield from hardware.head(dict(sorted(streams.items())))
    yield from task_slices(profile.log, hardware)
    yield from overlap_events(profile.log)
    if not profile.options.is_level_0:
        yield from communication_events(profile.log, {id(task.numbered): at for at, task in enumerate(profile.log.tasks)})
    if profile.options.with_host:
        yield from _arrows(profile, python, hardware)


def _steps(profile: EagerProfile, python: Process) -> Iterator[str]:
    """A slice around the calls of each step that the script counts."""
    if not profile.step_ids:
        return
    groups = [(step, list(calls)) for step, calls in groupby(profile.operators, lambda call: profile.step_of(call.iteration))]
    ends = [calls[0].start for _, calls in groups[1:]] + [calls[-1].end for _, calls in groups[-1:]]
    for (step, calls), end in zip(groups, ends, strict=True):
        start = calls[0].start
        yield slice_event(python, _THREAD, f"ProfilerStep#{step}", at_tick(start), tick_duration(end - start), {}, OPERATOR)


def _call(profile: EagerProfile, operator: HostOperator, python: Process) -> str:
    call = operator.call.operator
    args: dict[str, Any] = {"Sequence number": -1, "Fwd thread id": 0}
    if profile.options.record_shapes:
        args |= {"Input Dims": input_shapes(call), "Input type": input_types(call)}
    if profile.options.with_stack:
        args["Call stack"] = operator.call.stack.replace(";", ";\r\n")
    if call.source:
        args["Source"] = call.source
    length = tick_duration(operator.end - operator.start)
    return slice_event(python, _THREAD, call.name, at_tick(operator.start), length, args, OPERATOR)


def _arrows(profile: EagerProfile, python: Process, hardware: Process) -> Iterator[str]:
    number = 0
    for operator in profile.operators:
        for task in (task for task in operator.tasks if task.start >= operator.start):
            ends = ((python, _THREAD, operator.start, True), (hardware, task.numbered.stream, task.start, False))
            for process, tid, tick, begins in ends:
                yield flow_event(process, tid, FLOW_NAME, at_tick(tick), str(number), FLOW, begins=begins)
            number += 1
