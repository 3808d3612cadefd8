"""The tilings of a product that a chip can compute, as axes of a grid that a search walks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from npu_formats.device.chip import Chip
from npu_runtime.cost.tiling import FRACTAL, Product, Tiling, padded

MOST_GROUPED = 64
"""Rows (columns) of tiles that go together at most.  64 tiles of 256 are 16384 elements, the largest side in published guides on
the swizzle of blocks."""
GENES = ("base_m", "base_n", "base_k", "depth_parts", "is_l0_double", "is_l0c_double", "iterate_order", "row_group")
"""The axes of the grid: the fields of a `Tiling`, in the order of a genome."""


@dataclass(frozen=True)
class TilingSpace:
    """All tilings of a product whose sides are whole blocks of the cube unit and whose tiles the chip's buffers hold."""

    product: Product
    chip: Chip

    def sides(self, extent: int, buffer_bytes: int) -> range:
        """Rows (columns) of a tile: multiples of a block, up to the product's or to what one buffer of L0 holds."""
        most = buffer_bytes // (self.product.depth_block * self.product.element_bytes) // FRACTAL * FRACTAL
        return range(FRACTAL, min(padded(extent), most) + 1, FRACTAL)

    @cached_property
    def all_m(self) -> range:
        """Every number of rows that a tile may have."""
        return self.sides(self.product.m, self.chip.l0a_bytes)

    @cached_property
    def all_n(self) -> range:
        """Every number of columns that a tile may have."""
        return self.sides(self.product.n, self.chip.l0b_bytes)

    @cached_property
    def all_k(self) -> range:
        """Every depth that a tile may have: multiples of a block along k."""
        step = self.product.depth_block
        most = max(self.chip.l0a_bytes, self.chip.l0b_bytes) // (FRACTAL * self.product.element_bytes) // step * step
        return range(step, min(padded(self.product.k, step), most) + 1, step)

    @cached_property
    def all_parts(self) -> tuple[int, ...]:
        """Parts of the sum over k, none of them empty: as many as there are cores, at most."""
        step, k = self.product.depth_block, self.product.k
        return tuple(n for n in range(1, self.chip.n_cores + 1) if -(-k // padded(-(-k // n), step)) == n)

    @cached_property
    def all_groups(self) -> tuple[int, ...]:
        """Rows (columns) of tiles that go together: none, and powers of two.  A tiling takes no more than it has lines."""
        return (0, *(1 << power for power in range(MOST_GROUPED.bit_length())))

    def groups(self, base_m: int, base_n: int, order: int) -> tuple[int, ...]:
        """The groups of `all_groups` that a tiling with these sides may take."""
        extent, base = (self.product.n, base_n) if order else (self.product.m, base_m)
        return tuple(group for group in self.all_groups if group <= -(-extent // base))

    def is_member(self, tiling: Tiling) -> bool:
        """Whether a tiling is one of this space."""
        return (
            tiling.base_m in self.all_m and tiling.base_n in self.all_n and tiling.base_k in self.all_k
            and tiling.depth_parts in self.all_parts and tiling.iterate_order in (0, 1)
            and tiling.row_group in self.groups(tiling.base_m, tiling.base_n, tiling.iterate_order)
            and tiling.fits(self.chip, self.product.element_bytes)
        )  # fmt: skip


def smallest_sides(extent: int, sides: range) -> tuple[int, ...]:
    """The smallest of the sides that cut an extent in equally many tiles: the others compute more padding in as many rounds."""
    by_count = {-(-extent // side): side for side in reversed(sides)}
    return tuple(sorted(by_count.values()))


class TilingGenes:
    """A tiling as whole numbers, one an axis; numbers that no tiling has become the nearest that fits.

    The rules of experience stand here: of equally many tiles the smallest, and what the buffers do not hold is cut before it
    is costed.
    """

    def __init__(self, space: TilingSpace) -> None:
        product, self.space = space.product, space
        self.axes: tuple[tuple[int, ...], ...] = (
            smallest_sides(product.m, space.all_m), smallest_sides(product.n, space.all_n), tuple(space.all_k), space.all_parts,
            (0, 1), (0, 1), (0, 1), space.all_groups,
        )  # fmt: skip

    def tiling(self, genome: tuple[int, ...]) -> Tiling:
        """The tiling of a genome, cut to what fits."""
        m, n, k, parts, is_l0_double, is_l0c_double, order, group = (
            axis[gene] for axis, gene in zip(self.axes, genome, strict=True)
        )
        made = self._cut_sides(Tiling(m, n, k, parts, bool(is_l0_double), bool(is_l0c_double), order))
        groups = self.space.groups(made.base_m, made.base_n, order)
        return replace(self._cut_depth(made), row_group=min(group, groups[-1]))

    def genome(self, tiling: Tiling) -> tuple[int, ...]:
        """The genome whose values are nearest to a tiling's, from below where there is one."""
        values = (int(getattr(tiling, name)) for name in GENES)
        return tuple(_index(axis, value) for axis, value in zip(self.axes, values, strict=True))

    def _cut_sides(self, tiling: Tiling) -> Tiling:
        """The larger side steps down until L0 and L0C hold the tile at its least depth."""
        least, size = self.axes[2][0], self.space.product.element_bytes
        while not replace(tiling, base_k=least).fits(self.space.chip, size):
            if tiling.base_m >= tiling.base_n:
                tiling = replace(tiling, base_m=_below(self.axes[0], tiling.base_m))
            else:
                tiling = replace(tiling, base_n=_below(self.axes[1], tiling.base_n))
        return tiling

    def _cut_depth(self, tiling: Tiling) -> Tiling:
        """The depth steps down to what L0 and L1 hold."""
        chip, copies_bytes = self.space.chip, self.space.product.element_bytes * (2 if tiling.is_l0_double else 1)
        m, n, step = tiling.base_m, tiling.base_n, self.space.product.depth_block
        most = min(chip.l0a_bytes // m, chip.l0b_bytes // n, chip.l1_bytes // (m + n)) // copies_bytes // step * step
        return replace(tiling, base_k=min(tiling.base_k, most))


def _below(axis: tuple[int, ...], value: int) -> int:
    """The value of an axis before one that is not the first."""
    return axis[axis.index(value) - 1]


def _index(axis: tuple[int, ...], value: int) -> int:
    """Index of the largest value that is not above `value`, 0 where all are."""
    return max(0, sum(1 for one in axis if one <= value) - 1)
