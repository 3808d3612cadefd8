"""Cost of collectives: a start, and rings over HCCS within a server and over RoCE between servers."""

from __future__ import annotations

from dataclasses import dataclass

from npu_formats.device.chip import Chip
from npu_runtime.cost.fitted import Fitted, load_fitted
from npu_runtime.cost.task_cost import COLLECTIVE, TaskCost, Traffic

CALL_US = 350.0
"""Microseconds that a call of several ranks takes at least, however few its bytes: all ranks have to meet, and the engine starts
the tasks of each step.  Assumed: nobody publishes it for a graph in training.  It bounds what many small calls may cost."""
HOP_US = 2.0
"""Microseconds until what one chip sends begins to arrive at the next.  Source: stated for links between servers before the A3
(WAIC 2025).  Assumed for HCCS too, for which nothing is published."""
RANKS_A_SERVER = 8
"""Chips of a server.  Source: rank tables of 8p, and the product pages of training servers of all generations."""
_PASSES = {
    "HcomAllReduce": 2, "HcomReduce": 2, "HcomBroadcast": 2, "HcomReduceScatter": 1, "HcomAllGather": 1,
}  # fmt: skip
"""Number of passes over a ring: each rank first sums a part of its own (reduce-scatter), then all parts go to all (all-gather).
A broadcast spreads parts and then gathers them.  Source: the ring algorithms of the collectives' documentation; Patarasuk and
Yuan, 2009, for their bytes."""
_ALL_TO_ALL = frozenset({"HcomAllToAllV", "HcomAllToAllVC"})
_GATHERS = "HcomAllGather"


@dataclass(frozen=True)
class CollectiveTime:
    """Microseconds of a collective: until the first byte, and of the bytes within servers and between them."""

    start_us: float
    hccs_us: float = 0.0
    roce_us: float = 0.0

    @property
    def us(self) -> float:
        return self.start_us + self.hccs_us + self.roce_us

    @property
    def bound(self) -> str:
        """The part of the time that is longest: "start", "HCCS" or "RoCE"."""
        times = {"start": self.start_us, "HCCS": self.hccs_us, "RoCE": self.roce_us}
        return max(times, key=lambda name: times[name])


def collective_cost(
    op: str, n_bytes: float, n_ranks: int, ranks_a_server: int, chip: Chip, fitted: Fitted | None = None
) -> TaskCost:  # fmt: skip
    """The cost of a collective once all ranks have come to it; arguments as of `collective_time`."""
    time = collective_time(op, n_bytes, n_ranks, ranks_a_server, chip, fitted)
    return TaskCost(COLLECTIVE, time.us, traffic={"hbm": Traffic(n_bytes, n_bytes)}, bound=time.bound)


def collective_time(
    op: str, n_bytes: float, n_ranks: int, ranks_a_server: int, chip: Chip, fitted: Fitted | None = None
) -> CollectiveTime:  # fmt: skip
    """Microseconds of a collective when all ranks have come to it.

    op: the device's name.  n_bytes: that one rank gives.  ranks_a_server: of n_ranks on one machine; where there are several
    machines, ranks with the same place in theirs form rings of their own, each with its part of the bytes.  Any other op than
    those of this module sends its bytes to one other rank, over the one link between them.
    """
    start_us = (fitted or load_fitted()).start_us
    if n_ranks <= 1:
        return CollectiveTime(start_us)
    inside = max(1, min(n_ranks, ranks_a_server))
    servers = -(-n_ranks // inside)
    if op in _PASSES:
        return _ring(op, n_bytes, inside, servers, chip, start_us)
    floor_us = max(CALL_US, start_us + HOP_US)
    if op in _ALL_TO_ALL:
        return _all_to_all(n_bytes, n_ranks, inside, chip, floor_us)
    if servers > 1:
        return CollectiveTime(floor_us, roce_us=n_bytes / (chip.roce_gb_per_s * 1e3))
    return CollectiveTime(floor_us, hccs_us=n_bytes / (_link_gb_per_s(chip) * 1e3))


def hccs_gb_per_s(inside: int, chip: Chip) -> float:
    """The rate at which a rank sends at once to the others of its server, GB/s.  inside: ranks of the server that take part.

    Where a chip has a link to each of the seven others, it sends each of them a part at the same time.  Else the ranks form a
    ring, which takes one link of each.  Source: `npu-smi info -t topo` of servers of the A2 shows a link between any two; of the
    first generation the ring that the collectives' documentation names.
    """
    links = min(inside - 1, chip.hccs_links) if chip.hccs_links >= RANKS_A_SERVER - 1 else 1
    return max(1, links) * _link_gb_per_s(chip)


def _link_gb_per_s(chip: Chip) -> float:
    return chip.hccs_gb_per_s / chip.hccs_links


def _ring(op: str, n_bytes: float, inside: int, servers: int, chip: Chip, start_us: float) -> CollectiveTime:
    """The time of a ring of n ranks: each sends (n - 1) / n of all bytes in n - 1 steps, once or twice."""
    whole, passes = n_bytes * inside * servers if op == _GATHERS else n_bytes, _PASSES[op]
    within = (inside - 1) / inside * whole / (hccs_gb_per_s(inside, chip) * 1e3)
    between = (servers - 1) / servers * whole / inside / (chip.roce_gb_per_s * 1e3)
    floor_us = start_us + passes * HOP_US * (inside - 1 + servers - 1)
    return CollectiveTime(max(CALL_US, floor_us), passes * within, passes * between)


def _all_to_all(n_bytes: float, n_ranks: int, inside: int, chip: Chip, floor_us: float) -> CollectiveTime:
    """Each rank sends a part to every other one; those to other servers go beside those within, so the longer of both counts."""
    within = n_bytes * (inside - 1) / n_ranks / (hccs_gb_per_s(inside, chip) * 1e3)
    between = n_bytes * (n_ranks - inside) / n_ranks / (chip.roce_gb_per_s * 1e3)
    if within >= between:
        return CollectiveTime(floor_us, hccs_us=within)
    return CollectiveTime(floor_us, roce_us=between)
