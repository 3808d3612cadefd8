"""Rows by number: checked, taken, combined into other rows. Everything that gathers, scatters or reduces segments uses it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from npu_runtime.errors import InvalidArgument
from npu_runtime.kernels.threads.parallel import fair, parallel_ranges, scratch
from npu_runtime.kernels.variable_access import shape_text

SMALL = 4096
"""Elements up to which one ufunc.at is faster than moving whole rows."""
GRAIN_BYTES = 1 << 20
"""Bytes of one piece of work, the least that is worth a thread's time."""
LONG = 32
"""Elements of a row from which on moving whole rows is faster than ufunc.at, though they have to be put in order first."""
PIECE_ELEMENTS = 1 << 17
"""Elements of the rows that are combined with others at once: they and their next updates stay in the L2 cache."""
ROUND_COST = 1
"""The cost of the calls that give many rows their next update, in the unit of GROUP_COST: what they take whatever their size."""
GROUP_COST = 2
"""The cost of the calls that give one row all the updates it still lacks."""


def are_inside(indices: np.ndarray, n_rows: int) -> bool:
    """Whether all signed indices lie in [0, n_rows): without their sign, those below zero are very large."""
    return not indices.size or bool(np.maximum.reduce(indices.view(f"u{indices.itemsize}"), axis=None) < n_rows)


def n_inside(indices: np.ndarray, n_rows: int) -> int:
    """The number of indices before the first one outside [0, n_rows): TensorFlow goes through them one by one."""
    if are_inside(indices, n_rows):
        return indices.size
    return int(np.flatnonzero((indices.reshape(-1) < 0) | (indices.reshape(-1) >= n_rows))[0])


def check_range(indices: np.ndarray, n_rows: int, name: str = "indices") -> None:
    """Raises: InvalidArgument naming the first index outside [0, n_rows), as TensorFlow words it."""
    place = n_inside(indices, n_rows)
    if place < indices.size:
        wrong = indices.reshape(-1)[place]
        raise InvalidArgument(f"{name}{position_text(indices.shape, place)} = {wrong} is not in [0, {n_rows})")


def position_text(shape: tuple[int, ...], place: int) -> str:
    """The place of a flat offset in a shape, as in `indices[0,3]`; empty for a scalar."""
    return shape_text([int(n) for n in np.unravel_index(place, shape)]) if shape else ""


def take(source: np.ndarray, numbers: np.ndarray, out: np.ndarray) -> np.ndarray:
    """out[i] = source[numbers[i]] for a 2-d source and checked numbers; out is (numbers.size, inner)."""
    grain = max(1, GRAIN_BYTES // max(out.itemsize * out.shape[1], 1))

    def work(start: int, stop: int) -> None:
        source.take(numbers[start:stop], 0, out[start:stop], "clip")

    if out.size:
        parallel_ranges(numbers.size, work, grain)
    return out


def linear(indices: np.ndarray, shape: Sequence[int]) -> tuple[np.ndarray, int]:
    """(row numbers, first wrong row or -1) of index tuples (n, d) into the first d axes of a shape."""
    numbers = np.zeros(indices.shape[0], np.int64)
    is_wrong = np.zeros(indices.shape[0], bool)
    for axis in range(indices.shape[1]):
        column = indices[:, axis]
        is_wrong |= (column < 0) | (column >= shape[axis])
        numbers = numbers * shape[axis] + column
    wrong = np.flatnonzero(is_wrong)
    return numbers, int(wrong[0]) if wrong.size else -1


def combine(operation: np.ufunc, target: np.ndarray, numbers: np.ndarray, updates: np.ndarray) -> None:
    """target[numbers[i]] = operation(target[numbers[i]], updates[i]) for i in order, rows named twice included.

    target: (R, inner), contiguous, changed in place.  updates: (n, inner).
    """
    numbers, updates = numbers.astype(np.intp, copy=False), np.ascontiguousarray(updates)
    if updates.size > SMALL and target.shape[1] > 1:
        places, first_of_each = _first_of_each(numbers, len(target))
        is_first = first_of_each == places
        if is_first.all():
            _combine_distinct(operation, target, numbers, updates)
            return
        if target.shape[1] >= LONG:
            groups = _Groups(numbers, *_ranks(places, first_of_each))
            _combine_groups(operation, target, groups, _Updates(groups.order, updates))
            return
        if 2 * np.count_nonzero(is_first) > len(numbers):
            _combine_distinct(operation, target, numbers[is_first], updates[is_first])
            numbers, updates = numbers[~is_first], updates[~is_first]
    elements = (numbers[:, None] * target.shape[1] + np.arange(target.shape[1])).reshape(-1)
    operation.at(target.reshape(-1), elements, updates.reshape(-1))


def _combine_distinct(operation: np.ufunc, target: np.ndarray, numbers: np.ndarray, updates: np.ndarray) -> None:
    """As `combine` where no row is named twice: rows are moved whole, as one item each, and may be worked on side by side."""
    rows = as_items(target)

    def work(start: int, stop: int) -> None:
        named = numbers[start:stop]
        moved = rows.take(named, mode="clip")
        values = moved.view(target.dtype).reshape(len(named), -1)
        operation(values, updates[start:stop], out=values)
        rows[named] = moved

    parallel_ranges(len(numbers), work, max(1, GRAIN_BYTES // rows.itemsize))


def combine_picked(
    operation: np.ufunc, target: np.ndarray, numbers: np.ndarray, source: np.ndarray, picks: np.ndarray | None = None,
    weights: np.ndarray | None = None,
) -> None:  # fmt: skip
    """As `combine` for the updates weights[i] * source[picks[i]], without an array of them all.

    source: (rows, inner) of target's dtype.  picks: (n,), checked; None: 0, 1, ...  weights: (n,) of the same dtype; None: ones.
    """
    n, inner = len(numbers), target.shape[1]
    if n * inner > SMALL and inner >= LONG:
        numbers = numbers.astype(np.intp, copy=False)
        groups = _Groups(numbers, *first_places(numbers, len(target)))
        _combine_groups(operation, target, groups, _Updates(groups.order, source, picks, weights))
        return
    step = max(1, PIECE_ELEMENTS // max(inner, 1))
    for first in range(0, n, step):
        part = slice(first, first + step)
        given = source[part] if picks is None else source.take(picks[part], axis=0, mode="clip")
        combine(operation, target, numbers[part], given if weights is None else given * weights[part, None])


class _Groups:
    """Entries by the number they name, the numbers that most entries name first.

    numbers: (n,).  firsts, ranks: their `first_places`.
    """

    def __init__(self, numbers: np.ndarray, firsts: np.ndarray, ranks: np.ndarray) -> None:
        sizes = np.bincount(ranks, minlength=len(firsts))
        starts = np.cumsum(sizes) - sizes
        by_size = np.argsort(-sizes, kind="stable")
        self.order = _stable_order(ranks, len(firsts))
        """Entries group by group, in their order."""
        self.numbers, self.sizes, self.starts = numbers[firsts[by_size]], sizes[by_size], starts[by_size]
        costs = ROUND_COST * np.append(self.sizes, 0) + GROUP_COST * np.arange(len(sizes) + 1)
        self.n_rounds = int(np.append(self.sizes, 0)[np.argmin(costs)])
        """Rounds that are cheaper than to finish one by one the groups that lack rows after them."""


def _stable_order(ranks: np.ndarray, n_ranks: int) -> np.ndarray:
    """argsort in the entries' order, by numpy's radix sort, which it has for 16 bits only.  ranks: in [0, n_ranks)."""
    order = np.argsort(ranks.astype(np.uint16), kind="stable")
    if n_ranks > 1 << 16:
        order = order[np.argsort((ranks[order] >> 16).astype(np.uint16), kind="stable")]
    return order


class _Updates:
    """Rows to be combined, made when they are needed: weights[i] * source[picks[i]] of entry i.

    source: (rows, inner).  Others than `combine_picked`'s: put in some order.
    """

    def __init__(
        self, order: np.ndarray, source: np.ndarray, picks: np.ndarray | None = None, weights: np.ndarray | None = None
    ) -> None:
        self._source = source
        self._picks = order if picks is None else picks[order]
        self._weights = None if weights is None else weights[order, None]

    def rows(self, places: np.ndarray | slice, out: np.ndarray) -> np.ndarray:
        """The rows at some places, in that order."""
        self._source.take(self._picks[places], axis=0, out=out, mode="clip")
        return out if self._weights is None else np.multiply(out, self._weights[places], out=out)


def _combine_groups(operation: np.ufunc, target: np.ndarray, groups: _Groups, updates: _Updates) -> None:
    """target[numbers[i]] = operation(target[numbers[i]], update i) for i in order.

    target: (n_values, inner), contiguous, changed in place; of the updates' dtype.
    """
    n_groups, inner = len(groups.sizes), target.shape[1]
    n_pieces = fair(-(-n_groups * inner // PIECE_ELEMENTS), n_groups)
    lines = as_items(target)

    def work(first: int, last: int) -> None:
        for piece in range(first, last):  # every n_pieces-th group: as many entries for each thread
            mine = slice(piece, None, n_pieces)
            numbers = groups.numbers[mine]
            moved = lines.take(numbers, mode="clip")
            _combine_piece(operation, moved.view(target.dtype).reshape(-1, inner), groups, mine, updates)
            lines[numbers] = moved

    parallel_ranges(n_pieces, work)


def _combine_piece(operation: np.ufunc, sums: np.ndarray, groups: _Groups, mine: slice, updates: _Updates) -> None:
    """One row of every group that has one left, again and again; then the rest of the few groups with the most rows."""
    sizes, starts = groups.sizes[mine], groups.starts[mine]
    buffer = scratch("next rows", sums.shape, sums.dtype)
    counts = len(sizes) - np.searchsorted(sizes[::-1], np.arange(groups.n_rounds), side="right")
    for index, count in enumerate(counts.tolist()):
        operation(sums[:count], updates.rows(starts[:count] + index, buffer[:count]), out=sums[:count])
    step = max(1, PIECE_ELEMENTS // sums.shape[1])
    for group in range(int(np.count_nonzero(sizes > groups.n_rounds))):
        end = starts[group] + sizes[group]
        for first in range(starts[group] + groups.n_rounds, end, step):
            last = min(first + step, end)
            lines = scratch("rest of rows", (last - first + 1, sums.shape[1]), sums.dtype)
            lines[0] = sums[group]
            updates.rows(slice(first, last), lines[1:])
            operation.reduce(lines, axis=0, out=sums[group], dtype=sums.dtype)


def _first_of_each(numbers: np.ndarray, n_values: int) -> tuple[np.ndarray, np.ndarray]:
    """(0, 1, ..., n - 1; where each entry's number stands for the first time) for numbers in [0, n_values).

    A table of all values instead of sorting; only the entries that occur are ever touched.
    """
    places = np.arange(numbers.size, dtype=np.int32 if numbers.size < 1 << 31 else np.int64)
    table = scratch("first places", (n_values,), places.dtype)
    table[np.ascontiguousarray(numbers[::-1])] = places[::-1].copy()  # the last one written stays: the first place
    return places, table.take(numbers, mode="clip")  # all are inside; "raise" looks once more


def first_places(numbers: np.ndarray, n_values: int) -> tuple[np.ndarray, np.ndarray]:
    """(where each number is first, in order; which of those each entry is) for numbers in [0, n_values)."""
    return _ranks(*_first_of_each(numbers, n_values))


def _ranks(places: np.ndarray, first_of_each: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    is_first = first_of_each == places
    ranks = np.cumsum(is_first, dtype=places.dtype) - places.dtype.type(1)
    return np.flatnonzero(is_first), ranks.take(first_of_each, mode="clip")


def as_items(x: np.ndarray) -> np.ndarray:
    """(..., n) as (...): each run of the last axis, which is contiguous, as one opaque item that numpy moves whole."""
    return x.view(f"V{x.itemsize * x.shape[-1]}")[..., 0]
