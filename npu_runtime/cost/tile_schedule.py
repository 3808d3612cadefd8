"""The tiles of a product as the cores compute them: cycles of each pipe, and bytes at each level of memory."""

from __future__ import annotations

import math

from npu_formats.device.chip import Chip
from npu_runtime.cost.fitted import Fitted
from npu_runtime.cost.task_cost import Traffic
from npu_runtime.cost.tiling import ACCUMULATOR_BYTES, FRACTAL, Product, Tiling, padded

_BLOCK_CYCLES = {"float32": 2.0}
"""Cycles of a block product of 16 x 16 x 16, of 16 x 32 x 16 for 8 bits, where it is not one.  fp32: half the rate of fp16, as
the profiler's counters of a split chip have it."""
_CAST_LANES = 64
"""fp32 elements a cycle that the vector unit of a first-generation chip takes out of L0C and casts.  Source: platform files."""
_CACHE_SHARE = 0.5
"""Share of the second-level cache for each operand of a product: one is swept while a part of the other stays.  Assumed: no
source says how lines are replaced, and with halves neither drives out the other."""


class TileSchedule:
    """A product in tiles on a chip.  kept_bytes: of the result, as much stays on the cores."""

    def __init__(self, product: Product, chip: Chip, tiling: Tiling, kept_bytes: float = 0.0) -> None:
        self.product, self.chip, self.tiling, self.kept_bytes = product, chip, tiling, kept_bytes
        self.rows, self.columns = -(-product.m // tiling.base_m), -(-product.n // tiling.base_n)
        self.n_regions = product.batch * self.rows * self.columns * tiling.depth_parts
        self.rounds = -(-self.n_regions // chip.n_cores)
        self.depth = padded(-(-product.k // tiling.depth_parts), product.depth_block)
        self.is_converting = product.is_in_rows and not chip.is_split
        self.is_left_kept = tiling.base_m * self.depth * product.element_bytes * 2 <= chip.l1_bytes
        self.stored_bytes = ACCUMULATOR_BYTES if tiling.depth_parts > 1 else product.out_bytes

    @property
    def n_blocks(self) -> int:
        """Cores that have something to do."""
        return min(self.chip.n_cores, self.n_regions)

    def cycles_of_a_core(self, fitted: Fitted) -> dict[str, float]:
        """Busy cycles by pipe of the core that has most to do."""
        product, chip, tiling = self.product, self.chip, self.tiling
        tile, is_split = tiling.base_m * tiling.base_n, chip.is_split
        a_rate = chip.l1_to_l0a_rate * (fitted.depthwise_share if product.is_depthwise else 1.0)
        to_l0 = tiling.base_m / a_rate + tiling.base_n / chip.l1_to_l0b_rate
        load_rate = chip.l2_read_rate * (fitted.burst_share if self.is_converting else 1.0)
        drain, stored = tile * ACCUMULATOR_BYTES / chip.l0c_to_ub_rate, tile * self.stored_bytes
        return {
            "cube": self.rounds * self._block_cycles() / (fitted.int8_share if product.element_bytes == 1 else 1.0),
            "mte1": self.rounds * self.depth * product.element_bytes * to_l0,
            "mte2": self._loaded_bytes() / load_rate,
            "vector": 0.0 if is_split else self.rounds * (drain + tile / _CAST_LANES),
            "mte3": 0.0 if is_split else self.rounds * stored / chip.ub_to_l2_rate,
            "fixpipe": self.rounds * max(drain, stored / chip.l2_write_rate) if is_split else 0.0,
        }

    def _block_cycles(self) -> float:
        """Cycles of one tile on the cube unit."""
        product, tiling = self.product, self.tiling
        blocks = (padded(tiling.base_m) // FRACTAL) * (padded(tiling.base_n) // FRACTAL) * (self.depth // product.depth_block)
        return blocks * _BLOCK_CYCLES.get(product.dtype, 1.0)

    def _loaded_bytes(self) -> float:
        """The bytes that one core loads: rows of tiles one after another, whose left operand stays in L1 where it fits twice."""
        product, tiling = self.product, self.tiling
        along = min(self.rounds, self.columns) if self.is_left_kept else 1
        whole = float(product.batch * product.m * product.k * product.element_bytes)
        overlap = min(1.0, product.a_bytes / whole or 1.0)
        left = -(-self.rounds // along) * tiling.base_m * overlap
        return (left + self.rounds * tiling.base_n) * self.depth * product.element_bytes

    def memory_bytes(self) -> Traffic:
        """Bytes of device memory: the operands that the cache has not kept from before, plus one reload a sweep after
        eviction."""
        product, swept = self.product, self._swept_bytes()
        again = product.batch * swept * max(0.0, self._sweeps() - 1.0) * (1.0 - self.hit_rate())
        both = product.a_bytes + product.b_bytes
        made = product.batch * product.m * product.n * self.stored_bytes
        return Traffic(both * min(1.0, both / self.chip.l2_bytes) + again, max(0.0, made - self.kept_bytes))

    def _swept_bytes(self) -> float:
        """Bytes of the operand of one product that every row (column) of tiles needs whole."""
        product = self.product
        return (product.b_bytes if self.tiling.iterate_order == 0 else product.a_bytes) / product.batch

    def _sweeps(self) -> float:
        """The number of sweeps: one for the rows (columns) that the cores do together, or for a group of them.

        The cores go along the depth together, so the cache has to keep what they share of a step of it, never a whole operand.
        Of a group that is larger than what the cores do at once it has to keep the operand, as far as there is room.
        """
        product, tiling = self.product, self.tiling
        lines, across = (self.rows, self.columns) if tiling.iterate_order == 0 else (self.columns, self.rows)
        at_once = max(1.0, self.chip.n_cores / across)
        kept = (product.a_bytes + product.b_bytes) / product.batch - self._swept_bytes()
        parts = kept / (self.chip.l2_bytes * _CACHE_SHARE)
        return max(1.0, lines / (tiling.row_group or at_once), min(lines / at_once, parts))

    def hit_rate(self) -> float:
        """Share of what is swept again that the cache still has: all of what fits its share, nothing of what is twice as large,
        since the lines of a sweep are gone when the next one asks for them."""
        return min(1.0, max(0.0, 2.0 - self._swept_bytes() / (self.chip.l2_bytes * _CACHE_SHARE)))

    def memory_cycles(self, fitted: Fitted) -> float:
        """Cycles for the bytes of device memory, all cores together."""
        moved, rate = self.memory_bytes(), self.chip.hbm_rate * fitted.hbm_share
        return moved.read / (rate * (fitted.burst_share if self.is_converting else 1.0)) + moved.written / rate

    def fill_cycles(self) -> float:
        """Cycles until the first tile is there, and for the last one to leave."""
        tiling, chip = self.tiling, self.chip
        depth = min(tiling.base_k, self.depth)
        first = (tiling.base_m + tiling.base_n) * depth * self.product.element_bytes / chip.l2_read_rate
        return first + tiling.base_m * tiling.base_n * self.stored_bytes / chip.ub_to_l2_rate

    def traffic(self) -> dict[str, Traffic]:
        """Bytes by level, of all cores."""
        tiling, moved = self.tiling, self.memory_bytes()
        loaded, depth_bytes = self._loaded_bytes() * self.n_blocks, self.depth * self.product.element_bytes
        left, right = (self.rounds * self.n_blocks * base * depth_bytes for base in (tiling.base_m, tiling.base_n))
        steps = math.ceil(self.depth / tiling.base_k)
        summed = float(self.rounds * self.n_blocks * tiling.base_m * tiling.base_n * ACCUMULATOR_BYTES * steps)
        return {
            "hbm": moved, "l2": Traffic(loaded, moved.written), "l1": Traffic(left + right, loaded),
            "l0a": Traffic(left, left), "l0b": Traffic(right, right), "l0c": Traffic(summed, summed),
        }  # fmt: skip
