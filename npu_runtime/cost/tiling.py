"""Tiling of a product: which part of it a core computes at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from npu_formats.device.chip import Chip

FRACTAL = 16
"""Rows and columns of a block that the cube unit multiplies at a time, in elements.  Source: the platform files' cube tile."""
ACCUMULATOR_BYTES = 4
"""Bytes of an element of a product while it is summed: fp32 or int32."""
_SIDES = (256, 128, 64, 32, 16)
"""Rows or columns of the tiles that the default rule tries: 256 x 128 sums of four bytes fill the L0C of a split chip,
256 x 256 that of the others, and less than a block of 16 cannot be multiplied."""
_DEPTH_PARTS = (1, 2, 4, 8, 16)
"""Parts of the sum over k that the default rule tries: there are 20 to 32 cores, and each part of a tile wants one of its own."""


@dataclass(frozen=True)
class Product:
    """`batch` products of m x k by k x n.

    dtype: of the operands.  out_bytes: of an element of the result.  a_bytes, b_bytes: what the operands of all products take in
    device memory; for a convolution less than m x k, since windows overlap.  is_in_rows: whether an operand lies in rows, not in
    blocks.  is_depthwise: whether it is a depthwise convolution, of one block of channels at a time.
    flops: floating-point operations that the user asked for, what is padded left out.
    """

    m: int
    n: int
    k: int
    batch: int = 1
    dtype: str = "float16"
    out_bytes: int = 2
    a_bytes: float = 0.0
    b_bytes: float = 0.0
    is_in_rows: bool = False
    is_depthwise: bool = False
    flops: float = 0.0

    @property
    def element_bytes(self) -> int:
        return {"float32": 4, "int8": 1, "uint8": 1}.get(self.dtype, 2)

    @property
    def depth_block(self) -> int:
        """Elements along k of a block of the cube unit.  Source: the cube tile of the platform files, 32 for 8 bits."""
        return FRACTAL * (2 if self.element_bytes == 1 else 1)


@dataclass(frozen=True)
class Tiling:
    """base_m, base_n, base_k: the tile in L0.  depth_parts: how many cores share the sum over k of one tile.

    is_l0_double, is_l0c_double: whether there are two buffers, so that loads (stores) and products overlap.
    iterate_order: 0 where the cores go along rows of tiles, 1 along columns.  row_group: how many rows (columns) they go along
    together, so that the second-level cache keeps what these share; 0 for as many as there are cores for.
    """

    base_m: int
    base_n: int
    base_k: int
    depth_parts: int = 1
    is_l0_double: bool = True
    is_l0c_double: bool = True
    iterate_order: int = 0
    row_group: int = 0

    def fits(self, chip: Chip, element_bytes: int) -> bool:
        """Whether L0A, L0B and L0C hold the tile, and L1 what is loaded for it."""
        copies = 2 if self.is_l0_double else 1
        left, right = (side * self.base_k * element_bytes * copies for side in (self.base_m, self.base_n))
        sums = self.base_m * self.base_n * ACCUMULATOR_BYTES * (2 if self.is_l0c_double else 1)
        return left <= chip.l0a_bytes and right <= chip.l0b_bytes and sums <= chip.l0c_bytes and left + right <= chip.l1_bytes

    def n_tiles(self, product: Product) -> int:
        """Tiles of the result of all products."""
        return product.batch * -(-product.m // self.base_m) * -(-product.n // self.base_n)


def padded(n: int, step: int = FRACTAL) -> int:
    """n rounded up to a multiple."""
    return -(-n // step) * step


def default_candidates(product: Product, chip: Chip) -> Iterator[Tiling]:
    """The tilings that the default rule tries, larger tiles first.

    Sides are powers of two, cut to the product where it is smaller; L0A and L0B have two buffers, L0C has two where they fit. The
    sum over k is split only while each part has a core of its own.  Sides far beyond the product are tried too: their tiles are
    less deep, and so begin earlier, and without them a smaller product could get a worse tiling than a larger one.
    """
    for side_m in _SIDES:
        for side_n in _SIDES:
            tile = _largest_depth(product, chip, side_m, side_n)
            if tile is None:
                continue
            n_tiles = tile.n_tiles(product)
            for parts in _DEPTH_PARTS:
                if parts == 1 or n_tiles * parts <= chip.n_cores:
                    for order in (0, 1):
                        yield Tiling(tile.base_m, tile.base_n, tile.base_k, parts, True, tile.is_l0c_double, order)


def _largest_depth(product: Product, chip: Chip, side_m: int, side_n: int) -> Tiling | None:
    """The tile with as much depth as L0A and L0B hold twice; None where L0C is too small."""
    if side_m * side_n * ACCUMULATOR_BYTES > chip.l0c_bytes:
        return None
    depth, copies_bytes = product.depth_block, 2 * product.element_bytes
    limit = min(chip.l0a_bytes // (side_m * copies_bytes), chip.l0b_bytes // (side_n * copies_bytes)) // depth * depth
    if limit < depth:
        return None
    base_m, base_n = min(side_m, padded(product.m)), min(side_n, padded(product.n))
    is_l0c_double = side_m * side_n * ACCUMULATOR_BYTES * 2 <= chip.l0c_bytes
    return Tiling(base_m, base_n, min(limit, padded(product.k, depth)), 1, True, is_l0c_double)
