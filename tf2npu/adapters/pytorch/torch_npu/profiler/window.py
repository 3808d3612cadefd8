"""The steps that a profile has collected, and their files."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from npu_formats.files.whole_file import put_text
from npu_runtime.observers.profiler.eager.eager_profile import EagerOptions, EagerProfile, eager_profile
from npu_runtime.observers.profiler.eager.folder import write_folder
from npu_runtime.observers.profiler.eager.stacks import stacks
from npu_runtime.observers.profiler.eager.trace_view import trace_view

from .._observers.profiled_steps import CallWindow
from .messages import warn

_WORK_PATH, _BELOW_IT = "ASCEND_WORK_PATH", "profiling_data"
"""Variable with the folder of what has none, and the folder in it. Source: the vendor's guide."""


class Window:
    """One collection, from its begin to its end.  options: fields of EagerOptions.  counts_steps: whether the script tells where
    a step ends.  with_memory: whether memory is collected, too.
    """

    def __init__(self, options: Mapping[str, Any], *, counts_steps: bool, with_memory: bool) -> None:
        self._options, self._counts_steps = options, counts_steps
        self._calls = CallWindow(with_stack=options["with_stack"], with_memory=with_memory)
        self._began_ns = time.time_ns()

    def begin(self, step: int) -> None:
        """Collect from here on.  step: the script's number."""
        self._calls.step = step
        self._calls.begin()

    def next_step(self, step: int) -> None:
        """End a step of the script, and go on to the next one, whose number is `step`."""
        self._calls.end_step()
        self._calls.step = step

    def end(self) -> None:
        """Collect no longer."""
        self._calls.end()

    def write_folders(self, folder: str | None, worker: str | None, metadata: Mapping[str, Any]) -> None:
        """A folder for each device that ran something."""
        output = Path(folder) if folder else _default_folder()
        name = f"{worker or socket.gethostname()}_{os.getpid()}"
        for profile in self._profiles(metadata):
            try:
                warn(f"the profile is in {write_folder(profile, output, name, self._began_ns)}")
            except OSError as error:
                warn(f"no profile is written to {output}: {error.strerror}; name a folder that you may write to")

    def write_trace(self, path: str) -> None:
        """The timeline of the first device in a file."""
        self._write(path, trace_view)

    def write_stacks(self, path: str, *, on_device: bool) -> None:
        """Stacks of the first device with the time of the device or of the host in a file."""
        self._write(path, lambda profile: stacks(profile, on_device=on_device))

    def _write(self, path: str, lines: Callable[[EagerProfile], Iterable[str]]) -> None:
        for profile in self._profiles({})[:1]:
            place = Path(path)
            try:
                put_text(place.parent, place.name, "".join(lines(profile)))
            except OSError as error:
                warn(f"{path} is not written: {error.strerror}; name a file in a folder that you may write to")

    def _profiles(self, metadata: Mapping[str, Any]) -> list[EagerProfile]:
        devices = sorted(self._calls.steps.devices.items())
        if not devices:
            warn("no operator ran on the device in the profiled steps, so nothing is written")
        options = EagerOptions(**self._options, metadata=dict(metadata))
        return [eager_profile(device.record(), options, self._step_ids(index)) for index, device in devices]

    def _step_ids(self, index: int) -> Sequence[int]:
        return self._calls.step_ids[index] if self._counts_steps else ()


def _default_folder() -> Path:
    above = os.environ.get(_WORK_PATH)
    return Path(above) / _BELOW_IT if above else Path()
