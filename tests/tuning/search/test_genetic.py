"""The genetic search against the fastest of all tilings, which a walk over them finds."""

from __future__ import annotations

import random

import numpy as np
import pytest

from npu_formats.device.chip import load_chip
from npu_runtime.cost.core_task import CoreWork, core_cost, core_tiling
from npu_runtime.cost.fitted import load_fitted
from npu_runtime.cost.tiling_record import read_tiling, tiling_record
from npu_runtime.errors import InvalidArgument
from npu_runtime.observers.tuning.search.genetic import tune_product
from tests.cost.shapes import product
from tests.how_many import some
from tests.tuning.search.drawn_works import drawn_works
from tests.tuning.search.tiling_walk import TilingWalk

NEAR, NEAR_SHARE, MOST_EVALUATIONS = 1.02, 0.95, 300
NEAR_WITHOUT_START = 1.05
"""Half of the products take less than 18 us, of which 12 are the start, which no tiling changes."""
ROUNDING = 1e-12
ODD = CoreWork(product(1000, 1000, 1000), 0.0, 0.0, 0.0)


@pytest.mark.whole()
def test_two_hundred_products_come_near_the_fastest_tiling():
    assert len(drawn_works()) == 200
    works = some(drawn_works(), 11)  # chips take turns
    ratios, without_start = [], []
    for work, chip in works:
        found = tune_product(work, chip)
        assert found.us <= found.default_us == core_cost(work, chip).us
        assert found.us == core_cost(work, chip, found.choice).us
        assert found.evaluations <= MOST_EVALUATIONS
        assert list(found.rounds) == sorted(found.rounds, reverse=True) and found.rounds[-1] == found.us
        made = read_tiling(tiling_record(work.product, found.choice, chip), work.product, chip)
        assert core_cost(work, chip, made).us <= found.us
        fastest_us, start_us = TilingWalk(work, chip).fastest().us, load_fitted().start_us
        ratios.append(found.us / fastest_us)
        without_start.append((found.us - start_us) / (fastest_us - start_us))
    assert min(ratios) >= 1 - ROUNDING
    assert sum(ratio <= NEAR for ratio in ratios) >= NEAR_SHARE * len(works)
    assert sum(ratio <= NEAR_WITHOUT_START for ratio in without_start) >= NEAR_SHARE * len(works)


def test_a_search_repeats_itself_and_leaves_the_users_random_numbers_alone():
    chip = load_chip("Ascend910A")
    random.seed(1)
    np.random.seed(1)
    first = tune_product(ODD, chip)
    drawn = random.random(), np.random.random()
    random.seed(1)
    np.random.seed(1)
    assert drawn == (random.random(), np.random.random())
    np.random.seed(2)
    assert tune_product(ODD, chip) == first
    assert first.us < first.default_us


@pytest.mark.parametrize("evaluations", [1, 2, 50])
def test_a_search_keeps_to_its_evaluations(evaluations: int):
    found = tune_product(ODD, load_chip("Ascend910B2"), evaluations=evaluations)
    assert found.evaluations == evaluations
    assert found.us <= found.default_us


@pytest.mark.parametrize("asked", [0, 1, 30])
def test_what_is_out_of_time_keeps_the_best_so_far(asked: int):
    chip, left = load_chip("Ascend910A"), iter([False] * asked)
    found = tune_product(ODD, chip, is_out_of_time=lambda: next(left, True))
    assert found.evaluations == asked + 1
    assert found.us <= found.default_us
    assert asked or found.choice == core_tiling(ODD, chip)


def test_a_product_of_one_block_has_one_tiling():
    found = tune_product(CoreWork(product(1, 1, 1), 0.0, 0.0, 0.0), load_chip("Ascend910A"))
    assert found.us == found.default_us and found.rounds[-1] == found.us


def test_work_without_a_product_is_refused():
    with pytest.raises(InvalidArgument, match="take tune_vector"):
        tune_product(CoreWork(None, 1.0, 1.0, 1.0), load_chip("Ascend910A"))
