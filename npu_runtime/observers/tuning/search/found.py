"""The result of a search, its limit of time, and its seed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from npu_runtime.cost.tiling import Tiling
from npu_runtime.cost.vector_schedule import VectorSchedule

Choice = Tiling | VectorSchedule
"""A decision that a search makes."""
IsOutOfTime = Callable[[], bool]
"""Whether a search has to stop. It is asked before each evaluation."""
_SEED_BYTES = 4
"""Bytes of a seed: the generators that we use take 32 bits."""


@dataclass(frozen=True)
class Found:
    """choice: what is fastest, the default where nothing is faster.  us, default_us: time of both, microseconds.

    rounds: the best time after each round, microseconds.  evaluations: how many different choices were costed.
    """

    choice: Choice
    us: float
    default_us: float
    rounds: tuple[float, ...]
    evaluations: int


def never() -> bool:
    """Stop test of a search without a limit of time."""
    return False


def seed_of(*parts: object) -> int:
    """A seed that depends on nothing but the reprs of the parts: another process, and another day, gets the same."""
    return int.from_bytes(hashlib.sha256(repr(parts).encode()).digest()[:_SEED_BYTES], "little")
