"""The largest batch whose step fits into the memory of a chip, found by compiling."""

from __future__ import annotations

from collections.abc import Callable

from npu_runtime.device.chip import Chip
from npu_runtime.errors import DeviceError
from npu_runtime.graph.ir import Graph
from npu_runtime.graph.ops import FEED
from npu_runtime.simulation.ran_step import RanStep

MOST_COMPILATIONS = 12
"""Compilations that the search may take, each as long as the first of the script."""


def largest_batch(step: RanStep, chip: Chip, batch: int | None) -> int | None:
    """The largest batch that fits, while the next one does not; None where the graph takes no other or none was found.

    The step's memory grows nearly in proportion to the batch, so the secant through two compiled batches hits closely.
    """
    if not batch or not _is_open(step.graph, batch, step):
        return None

    def used(n: int) -> int:
        plan = step.memory_for(_with_batch(step, batch, n))
        if len(plan.offsets_bytes) != len(step.memory.offsets_bytes):  # a shape that is fixed in the graph leaves others unknown
            raise LookupError
        return step.variable_bytes + plan.arena_bytes

    try:
        return _search(used, chip, batch)
    except (DeviceError, ValueError, LookupError, ArithmeticError):
        return None


def _is_open(graph: Graph, batch: int, step: RanStep) -> bool:
    """Whether every placeholder that is fed a batch takes one of any size."""
    declared = [node.outputs[0].shape for node in graph if node.op == FEED]
    fed = [shape for shape, given in zip(declared, step.shapes, strict=False) if given[:1] == (batch,)]
    return all(shape is None or not shape or shape[0] is None for shape in fed)


def _with_batch(step: RanStep, batch: int, wanted: int) -> list[tuple[int, ...]]:
    return [(wanted, *shape[1:]) if shape[:1] == (batch,) else shape for shape in step.shapes]


def _search(used: Callable[[int], int], chip: Chip, batch: int) -> int | None:
    known = {n: used(n) for n in (batch, 2 * batch)}
    for _ in range(MOST_COMPILATIONS):
        fits = max((n for n, size in known.items() if size <= chip.hbm_bytes), default=0)
        too_large = min((n for n, size in known.items() if size > chip.hbm_bytes), default=0)
        if fits and too_large == fits + 1:
            return fits
        guess = _guess(known, chip.hbm_bytes)
        if too_large:
            guess = min(max(guess, fits + 1), too_large - 1)
        if guess < 1 or guess in known:
            guess = guess + 1 if guess in known and known[guess] <= chip.hbm_bytes else guess - 1
        if guess < 1 or guess in known:
            return None
        known[guess] = used(guess)
    return None


def _guess(known: dict[int, int], limit: int) -> int:
    (n, size), (m, more) = sorted(known.items(), key=lambda item: abs(item[1] - limit))[:2]
    slope = (more - size) / (m - n)
    return int(n + (limit - size) / slope) if slope > 0 else 0
