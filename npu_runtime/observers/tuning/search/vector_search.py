"""The search for the schedule of a vector task."""

from __future__ import annotations

from npu_formats.device.chip import Chip
from npu_runtime.cost.core_task import CoreWork, core_cost
from npu_runtime.cost.vector_schedule import default_schedule
from npu_runtime.errors import InvalidArgument
from npu_runtime.observers.tuning.search.found import Found, IsOutOfTime, never, seed_of
from npu_runtime.observers.tuning.search.measured import Measured
from npu_runtime.observers.tuning.search.schedule_space import ScheduleSpace
from npu_runtime.observers.tuning.search.tree_search import MOST_TRIES_EACH, TreeSearch

MOST_EVALUATIONS = 120
"""Schedules that are costed at most, the default among them: a twentieth of all."""


def tune_vector(
    work: CoreWork, chip: Chip, *, evaluations: int = MOST_EVALUATIONS, is_out_of_time: IsOutOfTime = never
) -> Found:  # fmt: skip
    """The fastest schedule that a tree search finds for work without a product.

    What is out of time keeps the best so far.  The same work and chip give the same result: the seed is made of them.
    Raises: InvalidArgument for work with a product.
    """
    if work.product is not None:
        raise InvalidArgument("the tree search tunes vector tasks: take tune_product for work with a product")
    costs = Measured(
        lambda schedule: core_cost(work, chip, schedule=schedule).us, default_schedule(chip), evaluations, is_out_of_time
    )
    TreeSearch(ScheduleSpace(chip), costs, seed_of(work, chip)).run(evaluations * MOST_TRIES_EACH)
    return costs.found()
