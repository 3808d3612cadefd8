"""The walk over all tilings costs what the model costs, and misses none."""

from __future__ import annotations

import random
from itertools import product as every

import pytest

from npu_formats.device.chip import load_chip
from npu_runtime.cost.core_task import CoreWork, core_cost
from npu_runtime.cost.tiling import Tiling
from npu_runtime.observers.tuning.search.tiling_space import TilingGenes, TilingSpace
from tests.cost.shapes import product
from tests.tuning.search.drawn_works import CHIPS, drawn_works
from tests.tuning.search.tiling_walk import TilingWalk

ROUNDING = 1e-12
DRAWN_TILINGS = 20


@pytest.mark.parametrize("name", CHIPS)
@pytest.mark.parametrize("dtype", ["float16", "int8", "float32"])
@pytest.mark.parametrize("shape", [(40, 56, 70, 1, False), (70, 20, 100, 5, True)])
def test_the_walk_finds_what_costing_one_after_another_finds(shape: tuple, dtype: str, name: str):
    chip, (m, n, k, batch, is_in_rows) = load_chip(name), shape
    work = CoreWork(product(m, n, k, batch, dtype, is_in_rows), 0.0, -100.0, 50.0)
    space = TilingSpace(work.product, chip)
    axes = (space.all_m, space.all_n, space.all_k, space.all_parts, (False, True), (False, True), (0, 1), space.all_groups)
    tilings = [tiling for values in every(*axes) if space.is_member(tiling := Tiling(*values))]
    walked = TilingWalk(work, chip).fastest()
    assert walked.n_tilings == len(tilings)
    assert walked.us == pytest.approx(min(core_cost(work, chip, tiling).us for tiling in tilings), rel=ROUNDING)


def test_no_drawn_tiling_is_faster_than_the_fastest():
    draw = random.Random(1)
    for work, chip in drawn_works():
        genes = TilingGenes(TilingSpace(work.product, chip))
        walked = TilingWalk(work, chip).fastest()
        assert genes.space.is_member(walked.tiling)
        for _ in range(DRAWN_TILINGS):
            tiling = genes.tiling(tuple(draw.randrange(len(axis)) for axis in genes.axes))
            assert genes.space.is_member(tiling)
            assert core_cost(work, chip, tiling).us >= walked.us * (1 - ROUNDING)


def test_a_large_product_has_millions_of_tilings():
    walked = TilingWalk(CoreWork(product(4096, 4096, 4096), 0.0, 0.0, 0.0), load_chip("Ascend910A")).fastest()
    assert walked.n_tilings > 1_000_000
