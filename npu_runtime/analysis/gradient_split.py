"""The split of a group's gradients into parts that are reduced in one call each.

Source: the documentation of set_split_strategy_by_idx and set_split_strategy_by_size, and for where a share falls inside of a
gradient the open source of the collective library, which cuts at the nearest end of a gradient.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from npu_runtime.config import GradientSplit


def parts_of(sizes: Sequence[int], split: GradientSplit) -> list[range]:
    """Positions of the gradients of each part, in order.

    sizes: bytes of the gradients in the order in which they are made.
    """
    last = len(sizes) - 1
    cuts = [index for index in split.indices if index < last] if split.indices else _cuts_by_size(sizes, split.percent)
    starts = [0, *(cut + 1 for cut in cuts if cut < last)]
    return [range(start, end) for start, end in zip(starts, [*starts[1:], len(sizes)], strict=True)]


def _cuts_by_size(sizes: Sequence[int], percent: Sequence[float]) -> list[int]:
    """The last gradient of each part: the one that ends nearest to the shares so far, the earlier of two, and one at least."""
    ends = list(accumulate(sizes))
    cuts: list[int] = []
    for wanted in accumulate(percent):
        target = wanted / 100 * ends[-1]
        first = cuts[-1] + 1 if cuts else 0
        cuts.append(min(range(first, len(ends)), key=lambda position: abs(ends[position] - target)))
        if cuts[-1] == len(ends) - 1:
            break
    return cuts
