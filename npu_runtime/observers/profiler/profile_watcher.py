"""Collects the steps of profiled sessions on a simulated clock, and writes the profile when the process or the block ends."""

from __future__ import annotations

import os
import time
from collections.abc import Hashable, Mapping, Sequence
from threading import Lock
from typing import Any

from npu_formats.device.chip import load_chip
from npu_runtime.device.device_number import device_number, number_in
from npu_runtime.exit_handlers import at_process_end
from npu_runtime.log import tell, tell_once
from npu_runtime.observers.base import OF_ALL_SESSIONS, SessionObserver
from npu_runtime.observers.profiler.collection import ProfileNotWritten, write_profile
from npu_runtime.observers.profiler.request import ProfilingRequest, requested
from npu_runtime.observers.ran_step import RanStep
from npu_runtime.simulation.buffers import buffers_of
from npu_runtime.simulation.compiled_model import CompiledModel, compile_model
from npu_runtime.simulation.cost_of_task import Ranks
from npu_runtime.simulation.device import Issue, SimulatedDevice
from npu_runtime.simulation.device_compiler import Target, lower_for
from npu_runtime.simulation.run_record import ModelRun


class ProfileWatcher(SessionObserver):
    """One profile of one process.  device: there from the first step on.  models: that it has loaded, by program."""

    def __init__(self, request: ProfilingRequest, environment: Mapping[str, str]) -> None:
        n_ranks = number_in(environment, "RANK_SIZE", 1)
        rank = number_in(environment, "RANK_ID", 0) if n_ranks > 1 else -1
        self._options, self._make, self.ranks = request.options, request.make, Ranks(n_ranks)
        self._output = request.output.absolute()  # the script may go elsewhere
        self._numbers = device_number(environment), rank, n_ranks
        self._process = os.getpid()
        self.device: SimulatedDevice | None = None
        self.began_ns = time.time_ns()
        self.models: dict[Hashable, tuple[ModelRun, CompiledModel]] = {}
        self._lock = Lock()

    def after(self, step: RanStep) -> None:
        """Run the step on the clock, too.  A step of a forked process is none of this profile's."""
        if os.getpid() != self._process:
            tell_once(_FORKED)
            return
        with self._lock:
            if self.device is None:
                self.device = SimulatedDevice(load_chip(step.config.soc), *self._numbers)
            if step.program not in self.models:
                self.models[step.program] = self._load(step, self.device)
            loaded, model = self.models[step.program]
            issue = Issue(step.is_issued, step.is_issued and not step.takes_from_queue)
            self.device.step(loaded, model, issue, step.turns)

    def _load(self, step: RanStep, device: SimulatedDevice) -> tuple[ModelRun, CompiledModel]:
        lowered = lower_for(step.graph, step.shapes, step.placement, step.config, Target(device.chip))
        model = compile_model(
            step.name, lowered.tasks, device.chip, self.ranks, step.source_of, lowered.input_bytes, step.choose
        )  # fmt: skip
        loaded = device.load(model)
        loaded.memory = buffers_of(lowered.tasks, frozenset(map(str, step.graph.fetches)))
        return loaded, model

    def write(self) -> None:
        """Write the files, if anything ran; what goes wrong is told and stops nobody."""
        with self._lock:
            self._write()

    def _write(self) -> None:
        if self.device is None:
            tell("Profiling: nothing ran on the device, so no profile is written")
            return
        try:
            written = write_profile(self.device.record, self._options, self._output, self.began_ns, make=self._make)
        except ProfileNotWritten as problem:
            tell(str(problem))
            return
        for line in (*written.warnings, f"Profiling: the profile is in {written.folder}"):
            tell(line)


_PROFILES: dict[ProfilingRequest, ProfileWatcher] = {}
"""The profiles of this process; sessions that ask for the same share one."""
_PROFILES_LOCK = Lock()
"""Held by who opens or ends profiles: sessions may be made in several threads."""
_FORKED = (
    "Profiling: a forked process runs a session that its parent has made, and the parent's profile does not have its steps; make "
    "the session in the forked process."
)


def profile_watcher(
    parameters: Mapping[str, Any], environment: Mapping[str, str] = os.environ
) -> ProfileWatcher | None:  # fmt: skip
    """The watcher for a session with these options, None for one that is not profiled."""
    request, warnings = requested(parameters, environment)
    for line in warnings:
        tell_once(line)
    if request is None:
        return None
    with _PROFILES_LOCK:
        if request not in _PROFILES:
            if not _PROFILES:
                at_process_end(write_profiles)
            _PROFILES[request] = ProfileWatcher(request, environment)
        return _PROFILES[request]


_BLOCK: list[ProfileWatcher] = []
"""The watcher of the Profiler block that runs are inside of, if there is one."""


def begin_block(request: ProfilingRequest) -> None:
    """Profile the steps of all sessions until `end_block`."""
    _leave_block()
    _BLOCK.append(ProfileWatcher(request, os.environ))
    OF_ALL_SESSIONS.extend(_BLOCK)


def end_block() -> None:
    """Write the profile of the block."""
    for watcher in _leave_block():
        watcher.write()


def _leave_block() -> Sequence[ProfileWatcher]:
    left = tuple(_BLOCK)
    _BLOCK.clear()
    OF_ALL_SESSIONS[:] = [one for one in OF_ALL_SESSIONS if one not in left]
    return left


def write_profiles() -> None:
    """Write and forget all profiles that have not been written."""
    while _PROFILES:
        _PROFILES.pop(next(iter(_PROFILES))).write()


def _forget() -> None:
    """A forked process begins without the profiles of its parent, which writes them itself."""
    global _PROFILES_LOCK
    _PROFILES_LOCK = Lock()
    _PROFILES.clear()
    _BLOCK.clear()


os.register_at_fork(after_in_child=_forget)
