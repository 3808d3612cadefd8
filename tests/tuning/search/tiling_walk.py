"""The fastest of all tilings of a product: every one is costed, in arrays and not one after another.

Time is start + (longest of the pipes + filling) / clock.  Device memory depends on order and groups alone, filling on the depth
in L0, and both enter as maximum or sum; so the least over the other axes is taken of each before they are joined.  The formulas
are those of `npu_runtime.cost`, written again for arrays; tests hold the two to each other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from npu_formats.device.chip import Chip
from npu_runtime.cost.core_task import CoreWork, core_cost
from npu_runtime.cost.fitted import load_fitted
from npu_runtime.cost.tile_schedule import TileSchedule
from npu_runtime.cost.tiling import Tiling, padded
from npu_runtime.observers.tuning.search.tiling_space import TilingSpace

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
CACHE_SHARE = 0.5


@dataclass(frozen=True)
class Walked:
    """us: of the fastest tiling.  tiling: that one.  n_tilings: how many were costed."""

    us: float
    tiling: Tiling
    n_tilings: int


class TilingWalk:
    """All tilings of a product on a chip.  Axes of the arrays: pairs of sides, then parts of k, where both matter."""

    def __init__(self, work: CoreWork, chip: Chip) -> None:
        assert work.product is not None
        self.work, self.chip, self.product, self.fitted = work, chip, work.product, load_fitted()
        self.space = TilingSpace(work.product, chip)
        self.size = self.product.element_bytes
        m, n = (axis.ravel() for axis in np.meshgrid(*(np.array(s) for s in (self.space.all_m, self.space.all_n)), indexing="ij"))
        fits = (m * n * 4 <= chip.l0c_bytes) & ((m + n) * self.product.depth_block * self.size <= chip.l1_bytes)
        self.m, self.n = m[fits], n[fits]
        self.rows, self.columns = -(-self.product.m // self.m), -(-self.product.n // self.n)
        self.parts = np.array(self.space.all_parts)
        step = self.product.depth_block
        self.depth = np.array([padded(-(-self.product.k // parts), step) for parts in self.space.all_parts])
        self.stored = np.where(self.parts > 1, 4, self.product.out_bytes)
        one = TileSchedule(self.product, chip, Tiling(16, 16, step))
        self.is_converting, self.burst = one.is_converting, self.fitted.burst_share if one.is_converting else 1.0

    def fastest(self) -> Walked:
        """Costs every tiling."""
        pipes, memory, fill = self._pipes(), self._memory(), self._fill()
        best, count = (np.inf, Tiling(16, 16, self.product.depth_block)), 0
        for is_l0_double in (False, True):
            for is_l0c_double in (False, True):
                cycles, n_tilings = self._cycles(pipes, memory, fill, is_l0_double, is_l0c_double)
                count += n_tilings
                at = np.unravel_index(int(np.argmin(cycles)), cycles.shape)
                if cycles[at] < best[0]:
                    best = (cycles[at], self._tiling(int(at[0]), int(at[1]), memory, is_l0_double, is_l0c_double))
        us = core_cost(self.work, self.chip, best[1]).us
        return Walked(us, best[1], count)

    def _cycles(self, pipes, memory, fill, is_l0_double: bool, is_l0c_double: bool) -> tuple[Floats, int]:
        """Of the fastest depth, order and groups for each pair and part; infinite where the buffers do not hold it."""
        compute_only, load, store = pipes
        parts_at = (self.parts > 1).astype(int)
        load = np.maximum(load, memory.min(axis=(0, 1)).T[:, parts_at])
        compute = np.maximum(compute_only, load) if is_l0_double and not self.is_converting else compute_only + load
        total = (np.maximum(compute, store) if is_l0c_double else compute + store) + fill
        n_depths = self._depths(is_l0_double) * ((self.m * self.n * (8 if is_l0c_double else 4)) <= self.chip.l0c_bytes)
        n_groups = np.isfinite(memory[..., 0, :]).sum(axis=(0, 1))
        return np.where((n_depths > 0)[:, None], total, np.inf), int((n_depths * n_groups).sum()) * len(self.parts)

    def _depths(self, is_l0_double: bool) -> Ints:
        """Number of depths that the buffers hold, by pair."""
        chip, step = self.chip, self.product.depth_block
        limit = np.minimum(np.minimum(chip.l0a_bytes // self.m, chip.l0b_bytes // self.n), chip.l1_bytes // (self.m + self.n))
        return np.minimum(limit // (self.size * (2 if is_l0_double else 1)) // step, len(self.space.all_k))

    def _pipes(self) -> tuple[Floats, Floats, Floats]:
        """Cycles to compute, to load on a core, and to store."""
        chip, product, fitted = self.chip, self.product, self.fitted
        m, n, depth = self.m[:, None], self.n[:, None], self.depth[None, :]
        regions = product.batch * (self.rows * self.columns)[:, None] * self.parts[None, :]
        rounds = -(-regions // chip.n_cores)
        rate = (2.0 if product.dtype == "float32" else 1.0) / (fitted.int8_share if self.size == 1 else 1.0)
        cube = rounds * (m // 16) * (n // 16) * (depth // product.depth_block) * rate
        a_rate = chip.l1_to_l0a_rate * (fitted.depthwise_share if product.is_depthwise else 1.0)
        mte1 = rounds * depth * self.size * (m / a_rate + n / chip.l1_to_l0b_rate)
        along = np.where(m * depth * self.size * 2 <= chip.l1_bytes, np.minimum(rounds, self.columns[:, None]), 1)
        whole = float(product.batch * product.m * product.k * self.size)
        overlap = min(1.0, product.a_bytes / whole or 1.0)
        mte2 = (-(-rounds // along) * m * overlap + rounds * n) * depth * self.size / (chip.l2_read_rate * self.burst)
        return cube, np.maximum(mte1, mte2), rounds * self._store(m * n)

    def _store(self, tile: Ints) -> Floats:
        """Cycles for a tile to leave."""
        chip, drain, stored = self.chip, tile * 4 / self.chip.l0c_to_ub_rate, tile * self.stored[None, :]
        if chip.is_split:
            return np.maximum(drain, stored / chip.l2_write_rate)
        return np.maximum(drain + tile / 64, stored / chip.ub_to_l2_rate)

    def _memory(self) -> Floats:
        """Cycles of device memory: order x groups x (whole sums or parts) x pairs; infinite where there are fewer lines."""
        chip, product = self.chip, self.product
        both, half = product.a_bytes + product.b_bytes, chip.l2_bytes * CACHE_SHARE
        rate, kept_bytes = chip.hbm_rate * self.fitted.hbm_share, max(0.0, -self.work.written_bytes)
        made = np.full((2, len(self.space.all_groups), 2, len(self.m)), np.inf)
        for order, (lines, across) in enumerate(((self.rows, self.columns), (self.columns, self.rows))):
            swept = (product.a_bytes if order else product.b_bytes) / product.batch
            hit_rate = min(1.0, max(0.0, 2.0 - swept / half))
            for at, group in enumerate(self.space.all_groups):
                at_once = np.maximum(1.0, chip.n_cores / across)
                parts = np.minimum(lines / at_once, (both / product.batch - swept) / half)
                sweeps = np.maximum(lines / (group or at_once), parts)
                again = product.batch * swept * np.maximum(0.0, sweeps - 1.0) * (1.0 - hit_rate)
                read = both * min(1.0, both / chip.l2_bytes) + again
                for parted, out_bytes in enumerate((product.out_bytes, 4)):
                    written = max(0.0, product.batch * product.m * product.n * out_bytes - kept_bytes)
                    made[order, at, parted] = np.where(group <= lines, read / (rate * self.burst) + written / rate, np.inf)
        return made

    def _fill(self) -> Floats:
        """Cycles to fill and drain, of the least depth: every other takes longer."""
        depth = np.minimum(self.product.depth_block, self.depth)[None, :]
        first = (self.m + self.n)[:, None] * depth * self.size / self.chip.l2_read_rate
        return first + (self.m * self.n)[:, None] * self.stored[None, :] / self.chip.ub_to_l2_rate

    def _tiling(self, pair: int, part: int, memory: Floats, is_l0_double: bool, is_l0c_double: bool) -> Tiling:
        """The tiling at a place of the arrays."""
        parts = int(self.parts[part])
        of_pair = memory[:, :, int(parts > 1), pair]
        order, group = (int(at) for at in np.unravel_index(int(np.argmin(of_pair)), of_pair.shape))
        return Tiling(
            int(self.m[pair]), int(self.n[pair]), self.product.depth_block, parts, is_l0_double, is_l0c_double, order,
            self.space.all_groups[group],
        )  # fmt: skip
