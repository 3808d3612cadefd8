"""Calls of the host for the device: loading models, launching their tasks, executing them. All of it follows from the record.

Times are nanoseconds of the host's raw clock. A model is loaded once, and each of its tasks is launched once while it is; the
device then runs them in every iteration by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from npu_runtime.observers.profiler.clocks import raw_ns
from npu_runtime.observers.profiler.device_log import DeviceLog, LoggedModel, NumberedTask

ACL, MODEL, NODE, COMMUNICATION, RUNTIME = 20000, 15000, 10000, 5500, 5000
"""Levels of host calls, from the user's down to the driver's. Source: the vendor's public parser, level_type_constant.py."""
LEVEL_NAMES = {ACL: "acl", MODEL: "model", NODE: "node", COMMUNICATION: "communication", RUNTIME: "runtime"}
"""The levels as api_statistic names them."""
LAUNCH_NS = 20
"""Nanoseconds between two launches where a record gives no longer loading: the least in which three calls fit, one inside the
other."""
MASTER = "master"
"""Name of a collective's call on the thread that leads it."""
_LOAD_THREAD = 1
"""Thread that loads models; the threads above it execute them."""


@dataclass(frozen=True, slots=True)
class HostCall:
    """A call.  level: one of those above.  name: as the vendor's.  begin, end: ns.  item: id of a model, or name of a node."""

    level: int
    name: str
    thread: int
    begin: int
    end: int
    item: str | int = 0


@dataclass(frozen=True, slots=True)
class Launch:
    """The launch of a task: `node` describes it, and inside of it `runtime` hands it to the device.

    communication: the call between them for a collective, None for any other task.
    """

    numbered: NumberedTask
    node: HostCall
    runtime: HostCall
    communication: HostCall | None = None

    def calls(self) -> tuple[HostCall, ...]:
        """The calls from the outer to the inner one."""
        between = () if self.communication is None else (self.communication,)
        return self.node, *between, self.runtime


@dataclass(frozen=True)
class HostLog:
    """loads: a call a model.  launches: a list a model.  executions: a call an iteration.  n_threads: that make calls."""

    models: tuple[LoggedModel, ...]
    loads: tuple[HostCall, ...]
    launches: tuple[tuple[Launch, ...], ...]
    executions: tuple[HostCall, ...]
    n_threads: int

    def calls(self) -> Iterator[HostCall]:
        """All calls, an outer one before those inside of it."""
        for load, launches in zip(self.loads, self.launches, strict=True):
            yield load
            for launch in launches:
                yield from launch.calls()
        yield from self.executions


def log_host(log: DeviceLog, *, with_collectives: bool) -> HostLog:
    """The calls that a device's run needed.  with_collectives: whether HCCL's own calls are among them."""
    loads, launches, free = [], [], 0
    for model in log.models:
        load = _load(model, free)
        free = load.end + 1
        loads.append(load)
        launches.append(tuple(_launches(model.tasks, load, with_collectives)))
    executions, n_threads = _executions(log)
    return HostLog(log.models, tuple(loads), tuple(launches), executions, n_threads)


def _load(model: LoggedModel, free: int) -> HostCall:
    """Loads of one thread follow each other; each is long enough for its launches."""
    began, ended = (raw_ns(us) for us in model.run.loaded)
    begin = max(began, free)
    end = max(ended, begin + LAUNCH_NS * (len(model.tasks) + 2))
    return HostCall(MODEL, "ModelLoad", _LOAD_THREAD, begin, end, model.run.model_id)


def _launches(tasks: Sequence[NumberedTask], load: HostCall, with_collectives: bool) -> Iterator[Launch]:
    """Each task has an equal part of the loading, of which its launch is four fifths; what is inside begins and ends inside."""
    part = (load.end - load.begin) // (len(tasks) + 2)
    for at, numbered in enumerate(tasks, start=1):
        begin, end = load.begin + at * part, load.begin + at * part + part * 4 // 5
        inset = (end - begin) // 4
        node = HostCall(NODE, "launch", _LOAD_THREAD, begin, end, numbered.task.name)
        runtime = HostCall(RUNTIME, _runtime_call(numbered), _LOAD_THREAD, begin + inset, end - inset)
        between = None
        if with_collectives and numbered.is_collective:
            between = HostCall(COMMUNICATION, MASTER, _LOAD_THREAD, begin + inset // 2, end - inset // 2, numbered.task.name)
        yield Launch(numbered, node, runtime, between)


def _runtime_call(numbered: NumberedTask) -> str:
    return "LaunchKernel" if numbered.is_kernel else "MemcpyAsync"


def _executions(log: DeviceLog) -> tuple[tuple[HostCall, ...], int]:
    """A call for each step that the host issues: of a loop on the device that is the first one.

    Calls that overlap in time are of different threads: each goes to the first thread that is free.
    """
    wanted = sorted(
        (raw_ns(step.issued[0]), raw_ns(step.issued[1]), model.run.model_id)
        for model in log.models
        for step in model.run.iterations
        if step.issued[1] > step.issued[0]
    )
    calls, free = [], list[int]()
    for begin, end, model_id in wanted:
        at = next((thread for thread, until in enumerate(free) if until < begin), len(free))
        free[at : at + 1] = [max(end, begin + 1)]
        calls.append(HostCall(MODEL, "ModelExecute", _LOAD_THREAD + 1 + at, begin, max(end, begin + 1), model_id))
    return tuple(calls), 1 + len(free)
