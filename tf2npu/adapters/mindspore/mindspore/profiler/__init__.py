"""Profiles of a run, which the simulated device writes itself."""

from mindspore.profiler.profiling import Profiler

__all__ = ["Profiler"]
