"""The cost of one task on a chip: cycles of each pipe, bytes at each level of memory, and the time that follows from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

CUBE, VECTOR, AI_CPU, COLLECTIVE, COPY, RUNTIME, HOST = "cube", "vector", "AI CPU", "HCCL", "copy", "runtime", "host"
ENGINES = (CUBE, VECTOR, AI_CPU, COLLECTIVE, COPY, RUNTIME, HOST)
"""Engines of tasks. A cube or vector task runs on the AI cores; on split chips a vector task runs on the vector cores alone."""
PIPES = ("cube", "vector", "scalar", "mte1", "mte2", "mte3", "fixpipe")
"""Units of an AI core that work side by side. Source: the architecture pages of the vendor's kernel language."""
LEVELS = ("hbm", "l2", "l1", "l0a", "l0b", "l0c", "ub")
"""Levels of memory, from the outside in."""


@dataclass(frozen=True)
class Traffic:
    """Bytes that all cores together read from and write to a level of memory."""

    read: float = 0.0
    written: float = 0.0

    def __add__(self, other: Traffic) -> Traffic:
        return Traffic(self.read + other.read, self.written + other.written)


@dataclass(frozen=True)
class TaskCost:
    """engine: one of ENGINES.  us: from the start of the task on its engine to its end, microseconds.  n_blocks: parts that
    the work is cut into, one a core at a time; 0 where no AI core works.  total_cycles: from the first to the last cycle,
    summed over blocks.  cycles: busy ones by pipe, summed over blocks.  traffic: by level.  flops: useful floating-point
    operations.  bound: the pipe that is busy longest, "start" where the start of the task takes most of its time.
    l2_hit_rate: share of bytes asked for that the second-level cache has, 0 to 1.
    """

    engine: str
    us: float
    n_blocks: int = 0
    total_cycles: float = 0.0
    cycles: Mapping[str, float] = field(default_factory=dict)
    traffic: Mapping[str, Traffic] = field(default_factory=dict)
    flops: float = 0.0
    bound: str = ""
    l2_hit_rate: float = 0.0
