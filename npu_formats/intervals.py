"""Sets of moments as sorted lists of intervals that do not touch, and lanes for those that overlap. Times are ticks or us."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

Time = TypeVar("Time", int, float)
Interval = tuple[Time, Time]
"""Start and end."""


def union(intervals: Iterable[Interval[Time]]) -> list[Interval[Time]]:
    """The moments that are in any of the intervals."""
    merged: list[Interval[Time]] = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        elif start < end:
            merged.append((start, end))
    return merged


def difference(of: Sequence[Interval[Time]], without: Sequence[Interval[Time]]) -> list[Interval[Time]]:
    """The moments of one set that are not in another; both are unions."""
    left, at = [], 0
    for start, end in of:
        while at < len(without) and without[at][1] <= start:
            at += 1
        inner = at
        while inner < len(without) and without[inner][0] < end:
            if start < without[inner][0]:
                left.append((start, without[inner][0]))
            start = max(start, without[inner][1])
            inner += 1
        if start < end:
            left.append((start, end))
    return left


def lanes(intervals: Iterable[Interval[int]]) -> list[int]:
    """A lane for each interval, in the order given by start, so that those of one lane do not overlap."""
    free: list[int] = []
    chosen = []
    for start, end in intervals:
        at = next((lane for lane, until in enumerate(free) if until <= start), len(free))
        free[at : at + 1] = [end]
        chosen.append(at)
    return chosen
