"""Cost of collectives: rings over HCCS within a server, and over RoCE between servers."""

from __future__ import annotations

from npu_runtime.cost.fitted import Fitted, load_fitted
from npu_runtime.cost.task_cost import COLLECTIVE, TaskCost, Traffic
from npu_runtime.device.chip import Chip

HOP_US = 2.0
"""Microseconds until what one chip sends begins to arrive at the next.  Source: stated for links between servers before the A3
(WAIC 2025).  Assumed for HCCS too, for which nothing is published."""
_PASSES = {
    "HcomAllReduce": 2, "HcomReduce": 2, "HcomBroadcast": 2, "HcomReduceScatter": 1, "HcomAllGather": 1,
}  # fmt: skip
"""How often a ring is gone round: each rank first sums a part of its own (reduce-scatter), then all parts go to all
(all-gather).  A broadcast spreads parts and then gathers them.  Source: the ring algorithms of the collectives' documentation;
Patarasuk and Yuan, 2009, for their bytes."""
_ALL_TO_ALL = frozenset({"HcomAllToAllV", "HcomAllToAllVC"})
_GATHERS = "HcomAllGather"


def collective_cost(
    op: str, n_bytes: float, n_ranks: int, ranks_a_server: int, chip: Chip, fitted: Fitted | None = None
) -> TaskCost:  # fmt: skip
    """Microseconds of a collective when all ranks have come to it.

    op: the device's name.  n_bytes: that one rank gives.  ranks_a_server: of n_ranks on one machine; where there are several
    machines, ranks with the same place in theirs form rings of their own, each with its part of the bytes.  Any other op than
    those of this module sends its bytes to one other rank.
    """
    inside = max(1, min(n_ranks, ranks_a_server))
    servers = max(1, -(-n_ranks // inside))
    start_us = (fitted or load_fitted()).start_us
    if n_ranks <= 1:
        us = 0.0
    elif op in _PASSES:
        us = _ring_us(op, n_bytes, inside, servers, chip)
    elif op in _ALL_TO_ALL:
        us = _all_to_all_us(n_bytes, n_ranks, inside, chip)
    else:
        rate = chip.hccs_gb_per_s if servers == 1 else chip.roce_gb_per_s
        us = HOP_US + n_bytes / (rate * 1e3)
    bound = "start" if us < start_us else "RoCE" if servers > 1 else "HCCS"
    return TaskCost(COLLECTIVE, start_us + us, traffic={"hbm": Traffic(n_bytes, n_bytes)}, bound=bound)


def _ring_us(op: str, n_bytes: float, inside: int, servers: int, chip: Chip) -> float:
    """Of a ring of n, each rank sends (n - 1) / n of all bytes in n - 1 steps."""
    whole = n_bytes * inside * servers if op == _GATHERS else n_bytes
    within = (inside - 1) / inside * whole / (chip.hccs_gb_per_s * 1e3)
    between = (servers - 1) / servers * whole / inside / (chip.roce_gb_per_s * 1e3)
    return _PASSES[op] * (within + between + HOP_US * (inside - 1 + servers - 1))


def _all_to_all_us(n_bytes: float, n_ranks: int, inside: int, chip: Chip) -> float:
    """Each rank sends a part to every other one; those to other servers go beside those within."""
    within = n_bytes * (inside - 1) / n_ranks / (chip.hccs_gb_per_s * 1e3)
    between = n_bytes * (n_ranks - inside) / n_ranks / (chip.roce_gb_per_s * 1e3)
    return HOP_US + max(within, between)
