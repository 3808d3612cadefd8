"""Profiling of the runs inside a block."""

from __future__ import annotations

import os
from types import TracebackType

from npu_bridge._log import recorded

from npu_runtime.profiler.profiling_request import ProfilingRequest, of_block

LEVELS = ("L0", "L1", "L2")


class Profiler:
    """A context that profiles the runs inside it; its files are not written by the simulated device yet.

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
        recorded("profiler.Profiler", "no profile files are written yet")

    def stop(self) -> None:
        """End profiling."""
        Profiler._active = None

    def request(self) -> ProfilingRequest:
        """What the runs inside the block collect, and where it goes."""
        return of_block(self.level, self.aic_metrics, self.output_path, os.environ)

    @classmethod
    def active(cls) -> Profiler | None:
        """The block that runs are inside of now."""
        return cls._active

    def __enter__(self) -> Profiler:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()
