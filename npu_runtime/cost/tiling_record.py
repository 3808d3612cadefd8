"""The record of a tiling, by the names that the vendor's tuner and kernels give its parts.

Source: the tiling structure of the kernel language's matrix product (hiascend, Matmul tiling), and the tuner's result files.
"""

from __future__ import annotations

from collections.abc import Mapping

from npu_formats.device.chip import Chip
from npu_runtime.cost.tile_schedule import TileSchedule
from npu_runtime.cost.tiling import FRACTAL, Product, Tiling
from npu_runtime.errors import InvalidArgument

FIELDS = (
    "usedCoreNum", "singleCoreM", "singleCoreN", "singleCoreK", "baseM", "baseN", "baseK", "depthA1", "depthB1", "stepM", "stepN",
    "iterateOrder", "stepKa", "stepKb", "dbL0A", "dbL0B", "dbL0C", "l2MTileCnt", "l2NTileCnt", "l2MTileBlock", "l2NTileBlock",
    "l2IterateOrder", "tilingEnable",
)  # fmt: skip
"""usedCoreNum: cores that have work.  singleCoreM, N, K: what a core computes at a time, elements.  baseM, N, K: the tile in L0.
depthA1, depthB1: tiles of an operand that L1 holds, copies counted.  stepM, stepN, stepKa, stepKb: those along an axis, copies
not counted.  iterateOrder: 0 where a core goes along M.  dbL0A to dbL0C: buffers.  l2MTileCnt, l2NTileCnt: groups of tiles that
the second-level cache keeps; l2MTileBlock, l2NTileBlock: tiles of a group, 0 where nothing is grouped.  l2IterateOrder: 0 where
groups go along M.  tilingEnable: 1 where the sum over K is split over cores."""
_OPERAND_SHARE = 4
"""L1 is shared by two operands, each of which has two buffers."""


def tiling_record(product: Product, tiling: Tiling, chip: Chip) -> dict[str, int]:
    """The record of a product's tiling on a chip: every one of FIELDS, in that order."""
    schedule = TileSchedule(product, chip, tiling)
    step_ka, step_kb = (_steps(side, schedule) for side in (tiling.base_m, tiling.base_n))
    group = tiling.row_group
    by_rows = tiling.iterate_order == 0
    lines = schedule.rows if by_rows else schedule.columns
    groups = -(-lines // group) if group else 1
    values = (
        schedule.n_blocks, min(product.m, tiling.base_m), min(product.n, tiling.base_n), schedule.depth, tiling.base_m,
        tiling.base_n, tiling.base_k, 2 * step_ka, 2 * step_kb, 1, 1, tiling.iterate_order, step_ka, step_kb,
        *(2 if tiling.is_l0_double else 1,) * 2, 2 if tiling.is_l0c_double else 1, groups if by_rows else 1,
        1 if by_rows else groups, group if by_rows else 0, 0 if by_rows else group, tiling.iterate_order,
        1 if tiling.depth_parts > 1 else 0,
    )  # fmt: skip
    return dict(zip(FIELDS, values, strict=True))


def read_tiling(record: Mapping[str, int], product: Product, chip: Chip) -> Tiling:
    """The tiling that a record describes.  Parts of the sum over K that would be empty are left out.

    Raises: InvalidArgument when fields are missing or no whole numbers, when the chip's buffers do not hold the tile, or when
    the fields are not those of one tiling of this product on this chip.
    """
    wrong = [name for name in FIELDS if type(record.get(name)) is not int or record[name] < 0]
    wrong += [name for name in ("baseM", "baseN", "baseK", "singleCoreK") if name not in wrong and record[name] < 1]
    if wrong:
        raise InvalidArgument(f"tiling record: {', '.join(wrong)} must be whole numbers; leave the record out to use the default")
    parts = -(-product.k // record["singleCoreK"]) if record["tilingEnable"] else 1
    order = min(1, record["iterateOrder"])
    made = Tiling(
        record["baseM"], record["baseN"], record["baseK"], parts, record["dbL0A"] > 1 and record["dbL0B"] > 1,
        record["dbL0C"] > 1, order, record["l2NTileBlock" if order else "l2MTileBlock"],
    )  # fmt: skip
    if not made.fits(chip, product.element_bytes):
        sides = f"{made.base_m} x {made.base_n} x {made.base_k}"
        raise InvalidArgument(f"tiling record: the buffers of {chip.name} do not hold {sides}; tune again for this chip")
    _check_whole(record, made, product, chip)
    return made


def _check_whole(record: Mapping[str, int], made: Tiling, product: Product, chip: Chip) -> None:
    """Raises: InvalidArgument unless the record is that of the tiling made of it.  usedCoreNum may count empty parts of K."""
    blocks = {"baseM": FRACTAL, "baseN": FRACTAL, "baseK": product.depth_block}
    wrong = [name for name, step in blocks.items() if record[name] % step]
    wrong += [
        name for name, value in tiling_record(product, made, chip).items() if name != "usedCoreNum" and record[name] != value
    ]
    if not 1 <= record["usedCoreNum"] <= chip.n_cores:
        wrong.append("usedCoreNum")
    if wrong or set(record) != set(FIELDS):
        wrong += [repr(name)[:40] for name in record if name not in FIELDS]
        whole = f"{product.m} x {product.n} x {product.k}"
        raise InvalidArgument(f"tiling record: no tiling of {whole} on {chip.name} has this {', '.join(wrong)}; tune again")


def _steps(side: int, schedule: TileSchedule) -> int:
    """Tiles along k that an operand's share of L1 holds, one at least."""
    tile_bytes = side * schedule.tiling.base_k * schedule.product.element_bytes
    along = -(-schedule.depth // schedule.tiling.base_k)
    return max(1, min(along, schedule.chip.l1_bytes // _OPERAND_SHARE // tile_bytes))
