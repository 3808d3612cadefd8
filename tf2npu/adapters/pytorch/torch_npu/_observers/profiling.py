"""A profile of a whole script, for `tf2npu run --profile` or the variables PROFILING_MODE and PROFILING_OPTIONS."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from npu_formats.session_options import launcher_options


def begin() -> None:
    """Take part where a profile is asked for, and write it when the process ends."""
    options = launcher_options(os.environ)
    if options.get("profiling_mode") or os.environ.get("PROFILING_MODE", "").strip().lower() == "true":
        _begin(options)


def _begin(options: dict[str, Any]) -> None:
    from npu_runtime.exit_handlers import at_process_end
    from npu_runtime.observers.profiler.request import requested

    from . import profiled_steps
    from .step_recorder import StepRecorder

    class Recorder(StepRecorder):
        def observe(self, *told: Any) -> None:
            """Keep a call. A script without steps is cut, so that its calls fit into memory."""
            super().observe(*told)
            if len(self.calls) >= profiled_steps.MOST_CALLS:
                self.finish()

    request, warnings = requested(options, os.environ)
    for line in warnings:
        _tell(line)
    if request is None:
        return
    steps = profiled_steps.ProfiledSteps()
    recorder = Recorder(lambda calls: steps.step(profiled_steps.host_calls(calls), recorder.n_before_update))
    recorder.begin()
    process, began_ns = os.getpid(), time.time_ns()

    def write() -> None:
        """A forked process leaves the profile to its parent."""
        if os.getpid() == process:
            recorder.finish()
            _write(steps, request, began_ns)

    at_process_end(write)


def _write(steps: Any, request: Any, began_ns: int) -> None:
    from npu_runtime.observers.profiler.collection import ProfileNotWritten, write_profile

    if not steps.devices:
        _tell("Profiling: nothing ran on the device, so no profile is written")
    for device in steps.devices.values():
        try:
            run = device.record().run
            written = write_profile(run, request.options, request.output, began_ns, make=request.make)
        except ProfileNotWritten as problem:
            _tell(str(problem))
            return
        for line in (*written.warnings, f"Profiling: the profile is in {written.folder}"):
            _tell(line)


def _tell(line: str) -> None:
    if sys.stderr is not None:
        print(f"torch_npu: {line}", file=sys.stderr)
