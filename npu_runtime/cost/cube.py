"""Cost of products on the cube units, and the tiling that a product gets when nobody tunes it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from npu_formats.device.chip import Chip
from npu_runtime.cost.fitted import Fitted, load_fitted
from npu_runtime.cost.task_cost import CUBE, TaskCost
from npu_runtime.cost.tile_schedule import TileSchedule
from npu_runtime.cost.tiling import Product, Tiling, default_candidates

_MOST_CHOICES = 65536
"""Choices of a tiling that are remembered: a hundred networks have about as many products."""


def product_cost(
    product: Product, chip: Chip, tiling: Tiling | None = None, fitted: Fitted | None = None, kept_bytes: float = 0.0
) -> TaskCost:  # fmt: skip
    """Microseconds of a product: the longest of its pipes where buffers let them overlap, their sum where not.

    tiling: the default one if absent.  kept_bytes: of the result, as much stays on the cores for what is fused behind it.
    """
    fitted = fitted or load_fitted()
    schedule = TileSchedule(product, chip, tiling or default_tiling(product, chip, fitted, kept_bytes), kept_bytes)
    one_core = schedule.cycles_of_a_core(fitted)
    busy = {**one_core, "mte2": max(one_core["mte2"], schedule.memory_cycles(fitted))}
    total = _overlapped(busy, schedule) + schedule.fill_cycles()
    n_blocks = schedule.n_blocks
    us = fitted.start_us + total / chip.cube_mhz
    bound = max(busy, key=lambda pipe: busy[pipe]) if us > 2 * fitted.start_us else "start"
    return TaskCost(
        CUBE, us, n_blocks, total * n_blocks, {pipe: cycles * n_blocks for pipe, cycles in one_core.items()}, schedule.traffic(),
        product.flops, bound, schedule.hit_rate(),
    )  # fmt: skip


@lru_cache(_MOST_CHOICES)
def default_tiling(product: Product, chip: Chip, fitted: Fitted | None = None, kept_bytes: float = 0.0) -> Tiling:
    """The one of `default_candidates` with the fewest cycles, the first of equal ones.

    So a product that grows, or a chip that loses cores, never gets a better tiling than before. Tuning finds more: sides that are
    no powers of two, groups of rows, single buffers with a larger tile.
    """
    fitted = fitted or load_fitted()

    def cycles(tiling: Tiling) -> float:
        schedule = TileSchedule(product, chip, tiling, kept_bytes)
        busy = schedule.cycles_of_a_core(fitted)
        busy["mte2"] = max(busy["mte2"], schedule.memory_cycles(fitted))
        return _overlapped(busy, schedule) + schedule.fill_cycles()

    return min(default_candidates(product, chip), key=cycles)


def _overlapped(busy: Mapping[str, float], schedule: TileSchedule) -> float:
    """Loads run beside products where L0A and L0B have two buffers, and stores where L0C has.

    Operands in rows come by way of the unified buffer, one after another with the products.  Source: two such products at a time
    take less than twice as long as one (published with the figures that the model is fitted to).
    """
    tiling, load = schedule.tiling, max(busy["mte1"], busy["mte2"])
    is_parallel = tiling.is_l0_double and not schedule.is_converting
    compute = max(busy["cube"], load) if is_parallel else busy["cube"] + load
    store = max(busy["vector"], busy["mte3"], busy["fixpipe"])
    return max(compute, store) if tiling.is_l0c_double else compute + store
