"""Who is told of every step that sessions run: prediction and profiling, where they are asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from npu_runtime.device.chip import Chip
from npu_runtime.prediction.collector import collector
from npu_runtime.profiler.profile_watcher import profile_watcher
from npu_runtime.simulation.ran_step import StepWatcher


def step_watchers(parameters: Mapping[str, Any], chip: Chip) -> tuple[StepWatcher, ...]:
    """The watchers of a session with these options; empty where nobody asks for any."""
    found = (collector(), profile_watcher(parameters, chip))
    return tuple(watcher for watcher in found if watcher is not None)
