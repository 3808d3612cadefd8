"""Profiling of the runs inside a block."""

from __future__ import annotations

import os
from types import TracebackType

from npu_runtime.observers.profiler.profile_watcher import begin_block, end_block
from npu_runtime.observers.profiler.request import of_block

LEVELS = ("L0", "L1", "L2")


class Profiler:
    """A context that profiles the runs inside it, into a folder below `output_path`.

    level: 'L0', 'L1' or 'L2'.  Raises: ValueError for options that are no text; RuntimeError for an unknown level, metrics
    with L0, and a profiler inside another.
    """

    _active: Profiler | None = None

    def __init__(self, *, level: str = "L0", aic_metrics: str = "", output_path: str = "") -> None:
        for name, value in (("level", level), ("aic_metrics", aic_metrics), ("output_path", output_path)):
            if not isinstance(value, str):
                raise ValueError(f"{name} must be a str, got {value!r}")
        if level not in LEVELS:
            raise RuntimeError(f"level must be one of {', '.join(LEVELS)}, got {level!r}")
        if aic_metrics and level == "L0":
            raise RuntimeError("aic_metrics needs level L1 or L2")
        self.level, self.aic_metrics, self.output_path = level, aic_metrics, output_path

    def start(self) -> None:
        """Begin to profile."""
        if Profiler._active is not None:
            raise RuntimeError("a profiler is active already; they cannot be nested")
        Profiler._active = self
        begin_block(of_block(self.level, self.aic_metrics, self.output_path, os.environ))

    def stop(self) -> None:
        """End profiling and write the files."""
        Profiler._active = None
        end_block()

    def __enter__(self) -> Profiler:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()
