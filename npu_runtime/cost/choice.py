"""The choice of tuning for the work of a task: its cost, its record, and the check of a record that somebody else wrote."""

from __future__ import annotations

from collections.abc import Mapping

from npu_formats.device.chip import Chip
from npu_runtime.cost.core_task import CoreWork, core_cost, core_tiling
from npu_runtime.cost.task_cost import TaskCost
from npu_runtime.cost.tiling import FRACTAL, Product, Tiling
from npu_runtime.cost.tiling_record import read_tiling, tiling_record
from npu_runtime.cost.vector_schedule import VectorSchedule, default_schedule, read_schedule, schedule_record
from npu_runtime.errors import InvalidArgument

Choice = Tiling | VectorSchedule
"""The tiling of work with a product, the schedule of other work."""


def default_choice(work: CoreWork, chip: Chip) -> Choice:
    """The choice for work that nobody tunes: the default tiling of its product, or the default schedule."""
    return core_tiling(work, chip) or default_schedule(chip)


def cost_with(work: CoreWork, chip: Chip, choice: Choice | None) -> TaskCost:
    """The cost of the work with a choice of its kind, the default one if absent."""
    if isinstance(choice, VectorSchedule):
        return core_cost(work, chip, schedule=choice)
    return core_cost(work, chip, choice)


def record_of(choice: Choice, work: CoreWork, chip: Chip) -> dict[str, int]:
    """The record of a choice: names and whole numbers.  Raises: InvalidArgument for a choice of the other kind."""
    if work.product is None and isinstance(choice, VectorSchedule):
        return schedule_record(choice)
    if work.product is None or not isinstance(choice, Tiling):
        raise InvalidArgument("tuning record: products have tilings, and other work has schedules")
    return tiling_record(work.product, choice, chip)


def choice_of(record: Mapping[str, int], work: CoreWork, chip: Chip) -> Choice:
    """The choice that a record describes, if the chip can do it and the record is the one that the choice has.

    Raises: InvalidArgument.
    """
    if work.product is None:
        return read_schedule(record, chip)
    return _tiling_of(record, work.product, chip)


def _tiling_of(record: Mapping[str, int], product: Product, chip: Chip) -> Tiling:
    made = read_tiling(record, product, chip)
    sides = made.base_m % FRACTAL, made.base_n % FRACTAL, made.base_k % product.depth_block
    if any(sides) or tiling_record(product, made, chip) != dict(record):
        raise InvalidArgument("tuning record: it describes no tiling of this product; tune it again")
    return made


def as_stored(choice: Choice, work: CoreWork, chip: Chip) -> Choice | None:
    """The choice as it comes back out of a bank, so that a run with the bank costs what the tuning run did; None where it would
    not come back."""
    try:
        if isinstance(choice, Tiling) and work.product is not None:
            choice = read_tiling(tiling_record(work.product, choice, chip), work.product, chip)
        return choice_of(record_of(choice, work, chip), work, chip)
    except InvalidArgument:
        return None
