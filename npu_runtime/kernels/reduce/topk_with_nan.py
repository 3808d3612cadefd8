"""The largest entries of rows that hold NaN.

A NaN is neither less nor more than any entry, so what TensorFlow finds depends on how it looks: these are its ways, step by step.
Source: TensorFlow's core/kernels/topk_op.cc and core/lib/gtl/top_n.h, Eigen's maximum, and std::sort of libstdc++.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heappop, heappush

import numpy as np

Array = np.ndarray
PACKET = 8
"""Entries that Eigen compares at once, which lose a NaN; those behind the last whole packet are compared one by one."""
SHORT = 16
"""Entries that std::sort leaves to an insertion sort."""


def places_with_nan(rows: Array, k: int, is_sorted: bool) -> Array:
    """(R, k) positions of the largest of rows (R, n), 0 < k <= n."""
    if k == 1:
        return _first_of_maxima(rows)[:, None]
    find = _sorted_whole if k == rows.shape[1] else _of_sorted_heap if is_sorted else _of_heap
    return np.array([find(row.tolist(), k) for row in rows], np.intp).reshape(len(rows), k)


def _first_of_maxima(rows: Array) -> Array:
    """The first position of the maximum, 0 where it is a NaN.  One by one, a NaN takes the place of all before it."""
    n_whole = rows.shape[1] // PACKET * PACKET
    lowest = np.asarray(-np.inf, rows.dtype)
    found = np.full(len(rows), lowest)
    for entries in rows[:, n_whole:].T:
        found = np.where(entries < found, found, entries)
    whole = np.fmax.reduce(rows[:, :n_whole], axis=1, initial=lowest)
    found = np.where(found < whole, whole, found)
    return np.argmax(rows == found[:, None], axis=1)


class _Entry:
    """Less than another one if it is the worse of both: has a smaller value or, where neither has, comes later."""

    __slots__ = ("place", "value")

    def __init__(self, value: float, place: int) -> None:
        self.value, self.place = value, place

    def __lt__(self, other: _Entry) -> bool:
        if self.value < other.value:
            return True
        return not self.value > other.value and self.place > other.place


def _heap(row: list[float], k: int) -> list[_Entry]:
    """k + 1 entries become a heap that loses its least; each later entry that is more than the least comes in for it."""
    heap = [_Entry(value, place) for place, value in enumerate(row[: k + 1])]
    heapify(heap)
    heappop(heap)
    for place in range(k + 1, len(row)):
        if row[place] > heap[0].value:
            heappop(heap)
            heappush(heap, _Entry(row[place], place))
    return heap


def _of_heap(row: list[float], k: int) -> list[int]:
    return [entry.place for entry in _heap(row, k)]


def _of_sorted_heap(row: list[float], k: int) -> list[int]:
    heap = _heap(row, k)
    return [heappop(heap).place for _ in range(k)][::-1]


def _sorted_whole(row: list[float], k: int) -> list[int]:
    """All places: sorted by value, then by place among neighbours of one value."""
    places = _Sorting(lambda a, b: row[a] > row[b], list(range(k))).run()
    start = 0
    while start < k:
        stop = start + 1
        while stop < k and row[places[stop]] == row[places[start]]:
            stop += 1
        places[start:stop] = sorted(places[start:stop])
        start = stop
    return places


class _Sorting:
    """std::sort of libstdc++.  precedes(a, b): whether a comes before b; no order where values are NaN."""

    def __init__(self, precedes: Callable[[int, int], bool], items: list[int]) -> None:
        self.precedes, self.items = precedes, items

    def run(self) -> list[int]:
        n = len(self.items)
        self._part(0, n, 2 * (n.bit_length() - 1))
        for position in range(1, n):
            self._insert(position, is_guarded=position < SHORT or n <= SHORT)
        return self.items

    def _part(self, start: int, stop: int, depth: int) -> None:
        """Quick sort down to short pieces; a heap sort where it goes too deep."""
        while stop - start > SHORT:
            if depth == 0:
                self._sort_by_heap(start, stop)
                return
            depth -= 1
            self._median_to(start, start + 1, start + (stop - start) // 2, stop - 1)
            cut = self._split(start + 1, stop, start)
            self._part(cut, stop, depth)
            stop = cut

    def _median_to(self, first: int, a: int, b: int, c: int) -> None:
        items, precedes = self.items, self.precedes
        if precedes(items[a], items[b]):
            chosen = b if precedes(items[b], items[c]) else c if precedes(items[a], items[c]) else a
        else:
            chosen = a if precedes(items[a], items[c]) else c if precedes(items[b], items[c]) else b
        items[first], items[chosen] = items[chosen], items[first]

    def _split(self, first: int, last: int, pivot: int) -> int:
        items, precedes, least, end = self.items, self.precedes, first, last
        while True:
            while first < end and precedes(items[first], items[pivot]):
                first += 1
            last -= 1
            while last > least and precedes(items[pivot], items[last]):
                last -= 1
            if first >= last:
                return first
            items[first], items[last] = items[last], items[first]
            first += 1

    def _insert(self, position: int, is_guarded: bool) -> None:
        items, precedes = self.items, self.precedes
        moved = items[position]
        if is_guarded and precedes(moved, items[0]):
            items[1 : position + 1] = items[:position]
            items[0] = moved
            return
        while position > 0 and precedes(moved, items[position - 1]):
            items[position] = items[position - 1]
            position -= 1
        items[position] = moved

    def _sort_by_heap(self, start: int, stop: int) -> None:
        precedes = self.precedes

        class Item:
            __slots__ = ("place",)

            def __init__(self, place: int) -> None:
                self.place = place

            def __lt__(self, other: Item) -> bool:
                return precedes(other.place, self.place)

        heap = [Item(place) for place in self.items[start:stop]]
        heapify(heap)
        self.items[start:stop] = [heappop(heap).place for _ in range(len(heap))][::-1]
