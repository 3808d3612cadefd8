"""Cost of products on the cube units."""

from __future__ import annotations

import math

from npu_runtime.cost.fitted import Fitted, load_fitted
from npu_runtime.cost.task_cost import CUBE, TaskCost, Traffic
from npu_runtime.cost.tiling import ACCUMULATOR_BYTES, FRACTAL, Product, Tiling, default_tiling, padded
from npu_runtime.device.chip import Chip

_BLOCK_CYCLES = {"float32": 2.0, "int8": 1.0, "uint8": 1.0}
"""Cycles of one block product of 16 x 16 x 16, of 16 x 32 x 16 for 8 bits, where it is not one.  fp32: half the rate of fp16, as
the profiler's counters of a split chip have it."""
_CAST_LANES = 64
"""fp32 elements a cycle that the vector unit of a first-generation chip takes out of L0C and casts.  Source: platform files."""


def product_cost(
    product: Product, chip: Chip, tiling: Tiling | None = None, fitted: Fitted | None = None, kept_bytes: float = 0.0
) -> TaskCost:  # fmt: skip
    """Microseconds of a product: the longest of its pipes where buffers let them overlap, their sum where not.

    kept_bytes: of the result, as much stays on the cores for what is fused behind it.
    """
    fitted, tiling = fitted or load_fitted(), tiling or default_tiling(product, chip)
    regions = _Regions(product, chip, tiling, kept_bytes)
    share = fitted.int8_share if product.element_bytes == 1 else 1.0
    one_core = regions.cycles_of_a_core(share, fitted)
    memory = regions.memory_cycles(fitted)
    busy = {**one_core, "mte2": max(one_core["mte2"], memory)}
    total = _overlapped(busy, tiling, regions.is_converting) + regions.fill_cycles()
    n_blocks = min(chip.n_cores, regions.n_regions)
    per_block = {pipe: cycles * n_blocks for pipe, cycles in one_core.items()}
    bound = max(busy, key=lambda pipe: busy[pipe]) if total / chip.cube_mhz > fitted.start_us else "start"
    return TaskCost(
        CUBE, fitted.start_us + total / chip.cube_mhz, n_blocks, total * n_blocks, per_block, regions.traffic(), product.flops,
        bound, regions.hit_rate(),
    )  # fmt: skip


def _overlapped(busy: dict[str, float], tiling: Tiling, is_converting: bool) -> float:
    """Loads run beside products where L0A and L0B have two buffers, and stores where L0C has.

    Operands in rows come by way of the unified buffer, one after another with the products.  Source: two such products at a time
    take less than twice as long as one (published with the figures that the model is fitted to).
    """
    load = max(busy["mte1"], busy["mte2"])
    compute = max(busy["cube"], load) if tiling.is_l0_double and not is_converting else busy["cube"] + load
    store = max(busy["vector"], busy["mte3"], busy["fixpipe"])
    return max(compute, store) if tiling.is_l0c_double else compute + store


class _Regions:
    """The tiles of a product as the cores compute them, one after another."""

    def __init__(self, product: Product, chip: Chip, tiling: Tiling, kept_bytes: float) -> None:
        self.product, self.chip, self.tiling, self.kept_bytes = product, chip, tiling, kept_bytes
        self.rows, self.columns = -(-product.m // tiling.base_m), -(-product.n // tiling.base_n)
        self.n_regions = product.batch * self.rows * self.columns * tiling.depth_parts
        self.rounds = -(-self.n_regions // chip.n_cores)
        depth = FRACTAL * (2 if product.element_bytes == 1 else 1)
        self.depth = padded(-(-product.k // tiling.depth_parts), depth)
        self.blocks = (padded(tiling.base_m) // FRACTAL) * (padded(tiling.base_n) // FRACTAL) * (self.depth // depth)
        self.is_converting = product.is_in_rows and not chip.is_split
        self.is_kept = tiling.base_m * self.depth * product.element_bytes * 2 <= chip.l1_bytes

    def cycles_of_a_core(self, share: float, fitted: Fitted) -> dict[str, float]:
        """Busy cycles by pipe of the core that has most to do."""
        product, chip, tiling = self.product, self.chip, self.tiling
        size, tile = product.element_bytes, tiling.base_m * tiling.base_n
        a_rate = chip.l1_to_l0a_rate * (fitted.depthwise_share if product.is_depthwise else 1.0)
        to_l0 = tiling.base_m / a_rate + tiling.base_n / chip.l1_to_l0b_rate
        load_rate = chip.l2_read_rate * (fitted.burst_share if self.is_converting else 1.0)
        drain, out = tile * ACCUMULATOR_BYTES / chip.l0c_to_ub_rate, tile * self._stored_bytes() / chip.ub_to_l2_rate
        return {
            "cube": self.rounds * self.blocks * _BLOCK_CYCLES.get(product.dtype, 1.0) / share,
            "mte1": self.rounds * self.depth * size * to_l0,
            "mte2": self._loaded_bytes() / load_rate,
            "vector": 0.0 if chip.is_split else self.rounds * (drain + tile / _CAST_LANES),
            "mte3": 0.0 if chip.is_split else self.rounds * out,
            "fixpipe": self.rounds * max(drain, tile * self._stored_bytes() / chip.l2_write_rate) if chip.is_split else 0.0,
        }

    def _stored_bytes(self) -> int:
        """Of an element; parts of a sum over k are added up in memory in fp32."""
        return ACCUMULATOR_BYTES if self.tiling.depth_parts > 1 else self.product.out_bytes

    def _loaded_bytes(self) -> float:
        """What one core loads: rows of tiles one after another, whose left operand stays in L1 where it fits."""
        size, tiling = self.product.element_bytes, self.tiling
        along = min(self.rounds, self.columns) if self.is_kept else 1
        lefts = -(-self.rounds // along)
        overlap = self.product.a_bytes / max(1.0, float(self.product.batch * self.product.m * self.product.k * size))
        left = lefts * tiling.base_m * self.depth * size * min(1.0, overlap or 1.0)
        return left + self.rounds * tiling.base_n * self.depth * size

    def memory_bytes(self) -> Traffic:
        """Bytes of device memory: what the cache cannot hold of the operands, and one of them again for each sweep that finds it
        gone."""
        product = self.product
        again = self._swept_bytes() * max(0.0, self._sweeps() - 1.0) * (1.0 - self.hit_rate())
        both = product.a_bytes + product.b_bytes
        return Traffic(both * min(1.0, both / self.chip.l2_bytes) + again, self._out_bytes())

    def _swept_bytes(self) -> float:
        """Of the operand that every row (column) of tiles needs whole."""
        return self.product.b_bytes if self.tiling.iterate_order == 0 else self.product.a_bytes

    def _sweeps(self) -> float:
        lines, across = (self.rows, self.columns) if self.tiling.iterate_order == 0 else (self.columns, self.rows)
        return lines / (self.tiling.row_group or max(1.0, self.chip.n_cores / across))

    def _out_bytes(self) -> float:
        product = self.product
        return max(0.0, product.batch * product.m * product.n * self._stored_bytes() - self.kept_bytes)

    def hit_rate(self) -> float:
        """Share of what is swept again that the cache still has: with it come the lines of the other operand of one sweep."""
        product, swept = self.product, self._swept_bytes()
        line = (product.a_bytes + product.b_bytes - swept) / max(1.0, self._sweeps())
        return min(1.0, self.chip.l2_bytes / (swept + line)) if swept else 1.0

    def memory_cycles(self, fitted: Fitted) -> float:
        """Cycles for the bytes of device memory, all cores together."""
        moved = self.memory_bytes()
        share = fitted.hbm_share * (fitted.burst_share if self.is_converting else 1.0)
        return moved.read / (self.chip.hbm_rate * share) + moved.written / (self.chip.hbm_rate * fitted.hbm_share)

    def fill_cycles(self) -> float:
        """Cycles until the first tile is there, and for the last one to leave."""
        tiling, size = self.tiling, self.product.element_bytes
        first = (tiling.base_m + tiling.base_n) * tiling.base_k * size / self.chip.l2_read_rate
        return first + tiling.base_m * tiling.base_n * self._stored_bytes() / self.chip.ub_to_l2_rate

    def traffic(self) -> dict[str, Traffic]:
        """Bytes by level, of all cores."""
        n_blocks, tiling, size = min(self.chip.n_cores, self.n_regions), self.tiling, self.product.element_bytes
        loaded = self._loaded_bytes() * n_blocks
        left, right = (self.rounds * n_blocks * base * self.depth * size for base in (tiling.base_m, tiling.base_n))
        summed = float(self.rounds * n_blocks * tiling.base_m * tiling.base_n * ACCUMULATOR_BYTES)
        steps = math.ceil(self.depth / tiling.base_k)
        return {
            "hbm": self.memory_bytes(), "l2": Traffic(loaded, self._out_bytes()), "l1": Traffic(left + right, loaded),
            "l0a": Traffic(left, left), "l0b": Traffic(right, right), "l0c": Traffic(summed * steps, summed * steps),
        }  # fmt: skip
