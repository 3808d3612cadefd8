"""The tree search against the fastest of all schedules, from the default on, and from the slowest of all on."""

from __future__ import annotations

import numpy as np
import pytest

from npu_formats.device.chip import chip_names, load_chip
from npu_runtime.cost.core_task import CoreWork, core_cost
from npu_runtime.cost.fitted import load_fitted
from npu_runtime.cost.vector_schedule import VectorSchedule, default_schedule, read_schedule, schedule_record
from npu_runtime.errors import InvalidArgument
from npu_runtime.observers.tuning.search.found import never
from npu_runtime.observers.tuning.search.measured import Measured
from npu_runtime.observers.tuning.search.schedule_space import ScheduleSpace
from npu_runtime.observers.tuning.search.tree_search import TreeSearch
from npu_runtime.observers.tuning.search.vector_search import MOST_EVALUATIONS, tune_vector
from tests.cost.shapes import product
from tests.how_many import some
from tests.tuning.search.drawn_works import drawn_vector_works

NEAR, NEAR_SHARE, ROUNDING = 1.05, 0.95, 1e-12
SMALL = CoreWork(None, 20_000.0, 20_000.0, 80.0)


@pytest.mark.parametrize("name", chip_names())
def test_every_schedule_of_the_space_fits_and_the_default_is_one(name: str):
    chip = load_chip(name)
    space = ScheduleSpace(chip)
    schedules = [space.schedule(chain) for chain in space.all_chains()]
    assert len(set(schedules)) == len(schedules)
    assert default_schedule(chip) in schedules
    assert all(read_schedule(schedule_record(schedule), chip) == schedule for schedule in schedules)


@pytest.mark.whole()
def test_two_hundred_vector_works_come_near_the_fastest_schedule():
    assert len(drawn_vector_works()) == 200
    works = some(drawn_vector_works(), 11)  # chips take turns
    n_near, n_gained = 0, 0
    for work, chip in works:
        found = tune_vector(work, chip)
        assert found.us <= found.default_us == core_cost(work, chip).us
        assert found.us == core_cost(work, chip, schedule=found.choice).us
        assert found.evaluations <= MOST_EVALUATIONS
        assert list(found.rounds) == sorted(found.rounds, reverse=True) and found.rounds[-1] == found.us
        space = ScheduleSpace(chip)
        fastest_us = min(core_cost(work, chip, schedule=space.schedule(chain)).us for chain in space.all_chains())
        n_near += fastest_us <= found.us <= NEAR * fastest_us
        n_gained += found.us < found.default_us
    assert n_near >= NEAR_SHARE * len(works)
    assert 0 < n_gained < len(works)


def test_the_search_needs_no_good_schedule_to_begin_with():
    """It begins with the slowest of all; and the start of a task, which no schedule changes, is left out of the times."""
    works = drawn_vector_works(50)
    ratios, from_draws = [], []
    for at, (work, chip) in enumerate(works):
        space = ScheduleSpace(chip)

        def cost(schedule: VectorSchedule, work=work, chip=chip) -> float:
            return core_cost(work, chip, schedule=schedule).us - load_fitted().start_us

        us = {chain: cost(space.schedule(chain)) for chain in space.all_chains()}
        costs = Measured(cost, space.schedule(max(us, key=lambda chain: us[chain])), MOST_EVALUATIONS, never)
        TreeSearch(space, costs, at).run(4 * MOST_EVALUATIONS)
        ratios.append(costs.best_us / min(us.values()))
        from_draws.append(
            np.random.default_rng(at).choice(list(us.values()), MOST_EVALUATIONS, replace=False).min() / min(us.values())
        )
    assert min(ratios) >= 1 - ROUNDING
    assert sum(ratio <= NEAR for ratio in ratios) >= NEAR_SHARE * len(works)
    assert sum(ratios) < sum(from_draws)


def test_a_search_repeats_itself():
    chip = load_chip("Ascend910A")
    found = tune_vector(SMALL, chip)
    np.random.seed(5)
    assert tune_vector(SMALL, chip) == found
    assert found.us < found.default_us


@pytest.mark.parametrize("asked", [0, 1, 30])
def test_what_is_out_of_time_keeps_the_best_so_far(asked: int):
    chip, left = load_chip("Ascend910B2"), iter([False] * asked)
    found = tune_vector(SMALL, chip, is_out_of_time=lambda: next(left, True))
    assert found.evaluations == asked + 1
    assert found.us <= found.default_us
    assert asked or found.choice == default_schedule(chip)


def test_a_large_task_keeps_its_time():
    """The default cuts it evenly and overlaps everything; the model knows nothing better."""
    work = CoreWork(None, 1e8, 1e8, 1e6)
    found = tune_vector(work, load_chip("Ascend910A"))
    assert found.us == found.default_us and found.choice == default_schedule(load_chip("Ascend910A"))


def test_work_with_a_product_is_refused():
    with pytest.raises(InvalidArgument, match="take tune_product"):
        tune_vector(CoreWork(product(16, 16, 16), 0.0, 0.0, 0.0), load_chip("Ascend910A"))
