"""Ranges of a text in the order of their starts, so that what stands at a place is found without looking at all of them."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import Generic, TypeVar

T = TypeVar("T")


class Covering:
    """Ranges of which only one thing is asked: whether any of them holds a place, or another range."""

    def __init__(self, ranges: Iterable[tuple[int, int]]) -> None:
        in_order = sorted(ranges)
        self._starts = [start for start, _ in in_order]
        self._reach = list(accumulate((end for _, end in in_order), max))  # how far those up to here go

    def holds(self, start: int, end: int) -> bool:
        """Whether one range starts no later and ends no sooner."""
        return end <= self.reach(start)

    def reach(self, offset: int) -> int:
        """The largest end of the ranges that start at or before the offset; -1 where there is none."""
        last = bisect.bisect_right(self._starts, offset) - 1
        return self._reach[last] if last >= 0 else -1


class Disjoint(Generic[T]):
    """Ranges that do not overlap, each with what it belongs to; they are added one by one."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ranges: list[tuple[int, int, T]] = []

    def add(self, start: int, end: int, owner: T) -> None:
        at = bisect.bisect_right(self._starts, start)
        self._starts.insert(at, start)
        self._ranges.insert(at, (start, end, owner))

    def around(self, start: int, end: int) -> Iterator[tuple[int, int, T]]:
        """The first two and the last of the ranges that touch [start, end): those between lie inside it."""
        first = max(0, bisect.bisect_right(self._starts, start) - 1)
        behind = bisect.bisect_left(self._starts, end)
        yield from self._ranges[first : first + 2]
        if behind > first + 2:
            yield self._ranges[behind - 1]
