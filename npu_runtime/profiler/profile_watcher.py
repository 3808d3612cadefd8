"""Collects the steps of profiled sessions on a simulated clock, and writes the profile when the process or the block ends."""

from __future__ import annotations

import atexit
import os
import sys
import time
from collections.abc import Hashable, Mapping
from threading import Lock
from typing import Any

from npu_runtime.device.chip import Chip
from npu_runtime.profiler.collection import ProfileNotWritten, write_profile
from npu_runtime.profiler.profiling_request import ProfilingRequest, requested
from npu_runtime.simulation.compiled_model import CompiledModel, Ranks, compile_model
from npu_runtime.simulation.device import Issue, SimulatedDevice
from npu_runtime.simulation.device_compiler import Target, lower_for
from npu_runtime.simulation.ran_step import RanStep
from npu_runtime.simulation.run_record import ModelRun


class ProfileWatcher:
    """One profile of this process.  models: that the device has loaded, by program."""

    computes = True

    def __init__(self, request: ProfilingRequest, chip: Chip, environment: Mapping[str, str]) -> None:
        n_ranks = _number(environment, "RANK_SIZE", 1)
        rank = _number(environment, "RANK_ID", 0) if n_ranks > 1 else -1
        self.request, self.ranks = request, Ranks(n_ranks)
        self.device = SimulatedDevice(chip, _number(environment, "DEVICE_ID", 0), rank)
        self.began_ns = time.time_ns()
        self.models: dict[Hashable, tuple[ModelRun, CompiledModel]] = {}
        self._lock = Lock()

    def after(self, step: RanStep) -> None:
        """Run the step on the clock, too."""
        with self._lock:
            if step.program not in self.models:
                self.models[step.program] = self._load(step)
            loaded, model = self.models[step.program]
            from_queue = bool(step.config.parameters.get("enable_data_pre_proc"))
            self.device.step(loaded, model, Issue(step.is_issued, step.is_issued and not from_queue), step.turns)

    def _load(self, step: RanStep) -> tuple[ModelRun, CompiledModel]:
        lowered = lower_for(step.graph, step.shapes, step.placement, step.config, Target(self.device.chip))
        model = compile_model(step.name, lowered.tasks, self.device.chip, self.ranks, step.source_of, lowered.input_bytes)
        return self.device.load(model), model

    def write(self) -> None:
        """Write the files, if anything ran; what goes wrong is told and stops nobody."""
        if not self.device.record.models:
            return
        request = self.request
        try:
            written = write_profile(self.device.record, request.options, request.output, self.began_ns, make=request.make)
        except ProfileNotWritten as problem:
            tell(str(problem))
            return
        for line in (*written.warnings, f"Profiling: the profile is in {written.folder}"):
            tell(line)


def tell(line: str) -> None:
    """A line of the run log."""
    print(f"npu_runtime: {line}", file=sys.stderr)


_PROFILES: dict[ProfilingRequest, ProfileWatcher] = {}
"""The profiles of this process; sessions that ask for the same share one."""
_TOLD: set[str] = set()


def profile_watcher(
    parameters: Mapping[str, Any], chip: Chip, environment: Mapping[str, str] = os.environ
) -> ProfileWatcher | None:  # fmt: skip
    """The watcher for a session with these options, None for one that is not profiled."""
    request, warnings = requested(parameters, environment)
    for line in warnings:
        if line not in _TOLD:
            _TOLD.add(line)
            tell(line)
    if request is None:
        return None
    if request not in _PROFILES:
        if not _PROFILES:
            atexit.register(write_profiles)
        _PROFILES[request] = ProfileWatcher(request, chip, environment)
    return _PROFILES[request]


def write_profiles() -> None:
    """Write and forget all profiles that have not been written."""
    while _PROFILES:
        _PROFILES.pop(next(iter(_PROFILES))).write()


def _number(environment: Mapping[str, str], name: str, otherwise: int) -> int:
    text = environment.get(name, "")
    return int(text) if text.isdigit() else otherwise
