"""A walk over the default candidates and groups of their rows: stands in until the searches are there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from npu_runtime.cost.choice import Choice, cost_with
from npu_runtime.cost.core_task import CoreWork
from npu_runtime.cost.tiling import default_candidates
from npu_runtime.device.chip import Chip


@dataclass(frozen=True)
class Walked:
    choice: Choice
    us: float
    default_us: float
    rounds: tuple[float, ...]
    evaluations: int


def tune_all(works: Sequence[CoreWork], chip: Chip, mode: str, workers: int, seconds: float | None) -> list[Walked | None]:
    return [_walk(work, chip) if work.product is not None and seconds != 0 else None for work in works]


def _walk(work: CoreWork, chip: Chip) -> Walked:
    assert work.product is not None
    tilings = [replace(one, row_group=n) for one in default_candidates(work.product, chip) for n in (0, 2, 4, 8)]
    times = [(cost_with(work, chip, one).us, n) for n, one in enumerate(tilings)]
    us, best = min(times)
    default = cost_with(work, chip, None).us
    return Walked(tilings[best], us, default, (default, us), len(times))
