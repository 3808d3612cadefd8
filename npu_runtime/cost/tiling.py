"""Tiling of a product: which part of it a core computes at a time, and the rule that chooses it when nobody tunes."""

from __future__ import annotations

from dataclasses import dataclass

from npu_runtime.device.chip import Chip

FRACTAL = 16
"""Rows and columns of a block that the cube unit multiplies at a time, in elements.  Source: the platform files' cube tile."""
ACCUMULATOR_BYTES = 4
"""Bytes of an element of a product while it is summed: fp32 or int32."""
_WIDE, _NARROW = 256, 128
"""Columns and rows of the largest tile: with sums of four bytes they fill the L0C of a split chip, and half of the others'."""
_FEWEST_DEPTH_STEPS = 4
"""Steps along K that a part keeps when K is split over cores, so that loads still overlap with products."""


@dataclass(frozen=True)
class Product:
    """`batch` products of m x k by k x n.

    dtype: of the operands.  out_bytes: of an element of the result.  a_bytes, b_bytes: what the operands take in device memory;
    for a convolution less than m x k, since windows overlap.  is_in_rows: whether an operand lies in rows, not in blocks.
    useful: share of the multiplications that the user asked for, what is padded left out.
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
        """Whether L0A, L0B and L0C hold the tile."""
        copies = 2 if self.is_l0_double else 1
        return (
            self.base_m * self.base_k * element_bytes * copies <= chip.l0a_bytes
            and self.base_n * self.base_k * element_bytes * copies <= chip.l0b_bytes
            and self.base_m * self.base_n * ACCUMULATOR_BYTES * (2 if self.is_l0c_double else 1) <= chip.l0c_bytes
        )


def padded(n: int, step: int = FRACTAL) -> int:
    """n rounded up to a multiple."""
    return -(-n // step) * step


def default_tiling(product: Product, chip: Chip) -> Tiling:
    """The largest tile of 128 x 256 that leaves no core without work; then k is split over the cores that are left.

    The longer side of the tile lies along the longer side of the product. Tiles are halved along their longer side, down to one
    block, while there are at least twice as many cores as tiles. The operand that is read again for each row (column) of tiles is
    the smaller one.
    """
    wide_n = product.n >= product.m
    m, n = padded(product.m), padded(product.n)
    base_m, base_n = min(m, _NARROW if wide_n else _WIDE), min(n, _WIDE if wide_n else _NARROW)
    while product.batch * _parts(m, base_m) * _parts(n, base_n) * 2 <= chip.n_cores and max(base_m, base_n) > FRACTAL:
        base_m, base_n = (padded(base_m // 2), base_n) if base_m > base_n else (base_m, padded(base_n // 2))
    copies_bytes = 2 * product.element_bytes
    depth = FRACTAL * (2 if product.element_bytes == 1 else 1)
    limit = min(chip.l0a_bytes // (base_m * copies_bytes), chip.l0b_bytes // (base_n * copies_bytes))
    base_k = max(depth, min(padded(product.k, depth), limit // depth * depth))
    tiles = product.batch * _parts(m, base_m) * _parts(n, base_n)
    parts = min(chip.n_cores // tiles, product.k // (base_k * _FEWEST_DEPTH_STEPS)) if tiles < chip.n_cores else 1
    is_l0c_double = base_m * base_n * ACCUMULATOR_BYTES * 2 <= chip.l0c_bytes
    order = 0 if product.b_bytes <= product.a_bytes else 1
    return Tiling(base_m, base_n, base_k, max(1, parts), True, is_l0c_double, order)


def _parts(n: int, size: int) -> int:
    return -(-n // size)
