"""What tuning chooses for the work of a task: its cost, its record, and the check of a record that somebody else wrote."""

from __future__ import annotations

from collections.abc import Mapping

from npu_runtime.cost.core_task import CoreWork, core_cost, core_tiling
from npu_runtime.cost.task_cost import TaskCost
from npu_runtime.cost.tiling import FRACTAL, Tiling
from npu_runtime.cost.tiling_record import read_tiling, tiling_record
from npu_runtime.device.chip import Chip
from npu_runtime.errors import InvalidArgument

Choice = Tiling


def default_choice(work: CoreWork, chip: Chip) -> Choice | None:
    """What the work gets when nobody tunes it; None for work that has no choice."""
    return core_tiling(work, chip)


def cost_with(work: CoreWork, chip: Chip, choice: Choice | None) -> TaskCost:
    """The cost of the work with a choice, the default one if absent."""
    return core_cost(work, chip, choice)


def record_of(choice: Choice, work: CoreWork, chip: Chip) -> dict[str, int]:
    """The record of a choice: names and whole numbers."""
    if work.product is None:
        raise InvalidArgument("tuning record: the work has no product")
    return tiling_record(work.product, choice, chip)


def choice_of(record: Mapping[str, int], work: CoreWork, chip: Chip) -> Choice:
    """The choice that a record describes, if the chip can do it and the record is the one that the choice has.

    Raises: InvalidArgument.
    """
    if work.product is None:
        raise InvalidArgument("tuning record: the work has no product")
    made = read_tiling(record, work.product, chip)
    sides = made.base_m % FRACTAL, made.base_n % FRACTAL, made.base_k % work.product.depth_block
    if any(sides) or tiling_record(work.product, made, chip) != dict(record):
        raise InvalidArgument("tuning record: it describes no tiling of this product; tune it again")
    return made


def as_stored(choice: Choice, work: CoreWork, chip: Chip) -> Choice | None:
    """The choice as it comes back out of a bank, so that a run with the bank costs what the tuning run did; None where it would
    not come back."""
    try:
        first = read_tiling(record_of(choice, work, chip), work.product, chip) if work.product else choice
        return choice_of(record_of(first, work, chip), work, chip)
    except InvalidArgument:
        return None
