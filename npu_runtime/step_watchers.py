"""Watchers of sessions, which are told of steps, and tuners, which are told of programs, where they are asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from npu_formats.device.chip import Chip
from npu_runtime.config import RuntimeConfig
from npu_runtime.prediction.collector import collector
from npu_runtime.profiler.profile_watcher import profile_watcher
from npu_runtime.simulation.ran_step import StepWatcher
from npu_runtime.tuning.programs.session_tuner import SessionTuner, tuner_for, tuning_lines
from npu_runtime.tuning.programs.tuning_collector import tuning_collector
from npu_runtime.tuning.search.parallel import tune_all

__all__ = ["session_tuner", "step_watchers", "tuning_lines"]


def step_watchers(parameters: Mapping[str, Any]) -> tuple[StepWatcher, ...]:
    """The watchers of a session with these options; empty where nobody asks for any."""
    found = (collector(), tuning_collector(), profile_watcher(parameters))
    return tuple(watcher for watcher in found if watcher is not None)


def session_tuner(config: RuntimeConfig, chip: Chip) -> tuple[SessionTuner | None, tuple[str, ...]]:
    """The tuner of a session with these options, None for one that is not tuned, and lines for the run log."""
    return tuner_for(config, chip, tune_all)
