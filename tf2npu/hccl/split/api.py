"""The split of the gradients into parts that are reduced while the backward pass still runs."""

from __future__ import annotations

from itertools import pairwise

from hccl import _groups
from hccl._groups import WORLD

from npu_runtime.config import GradientSplit

MAX_PARTS = 8
"""The most parts that gradients are split into. Source: the vendor's documentation of set_split_strategy_by_idx."""
MAX_INDEX = 2**32 - 1
"""The largest index of a gradient: it is an unsigned number of 32 bits."""
splits: dict[str, GradientSplit] = {}
"""The split of each group for which the script has set one. Sessions look here when they compile: scripts set it between runs."""


def set_split_strategy_by_idx(idxList: list[int], group: str = WORLD) -> None:
    """Cut after the gradients with these numbers; the last number should be the last gradient's.

    Raises: ValueError unless it is a list of 1 to 8 ints from 0 to 2**32 - 1, each above the one before.
    """
    _groups.members(group)
    _check_list("idxList", idxList)
    if any(not isinstance(index, int) or isinstance(index, bool) or not 0 <= index <= MAX_INDEX for index in idxList):
        raise ValueError(f"idxList must hold ints from 0 to {MAX_INDEX}, got {idxList}")
    if any(after <= before for before, after in pairwise(idxList)):
        raise ValueError(f"idxList must ascend, got {idxList}")
    if group not in splits or splits[group].indices:
        splits[group] = GradientSplit(indices=tuple(idxList))


def set_split_strategy_by_size(dataSizeList: list[float], group: str = WORLD) -> None:
    """Cut into parts of these percentages of the gradient bytes; it wins over the form by index.

    Raises: ValueError unless it is a list of 1 to 8 numbers from 0 on whose sum is 100.
    """
    _groups.members(group)
    _check_list("dataSizeList", dataSizeList)
    if any(not isinstance(size, int | float) or isinstance(size, bool) or size < 0 for size in dataSizeList):
        raise ValueError(f"dataSizeList must hold numbers from 0 on, got {dataSizeList}")
    if abs(sum(dataSizeList) - 100) > 1e-9:
        raise ValueError(f"dataSizeList must add up to 100, got {dataSizeList} with the sum {sum(dataSizeList)}")
    splits[group] = GradientSplit(percent=tuple(dataSizeList))


def _check_list(name: str, value: object) -> None:
    if not isinstance(value, list) or not value:
        raise ValueError(f"{name} must be a list that is not empty, got {value!r}")
    if len(value) > MAX_PARTS:
        raise ValueError(f"{name} cuts into {len(value)} parts, at most {MAX_PARTS} are possible")


def split_of(group: str = WORLD) -> tuple[str, list[float]]:
    """The split of the group's gradients: 'size' with percentages or 'index' with gradient numbers."""
    split = splits.get(group, GradientSplit())
    return ("index", list(split.indices)) if split.indices else ("size", list(split.percent))
