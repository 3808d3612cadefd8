"""Looks for the nodes of a step that make the first NaN, and puts them into the run log."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from npu_runtime.config import RuntimeConfig
from npu_runtime.executor.nan_tracking import NanTracker
from npu_runtime.executor.task_observers import observing
from npu_runtime.observers.base import SessionObserver
from npu_runtime.observers.loaded_program import LoadedProgram


class NanOrigins(SessionObserver):
    """raises: whether a NaN ends the step."""

    def __init__(self, raises: bool) -> None:
        self._raises = raises

    @contextmanager
    def around_run(self, loaded: LoadedProgram) -> Iterator[None]:
        """Look at every value of a step; the first step of a kind that makes a NaN is told of."""
        tracker, record = NanTracker(self._raises), loaded.record
        with observing(tracker):
            yield
        if tracker.origins and not record.nan_origins:
            record.nan_origins = [f"{origin} (step {record.n_runs + 1})" for origin in tracker.origins]


def nan_origins(config: RuntimeConfig) -> NanOrigins | None:
    """The observer that the option `track_nan` asks for."""
    return None if config.track_nan == "off" else NanOrigins(raises=config.track_nan == "raise")
