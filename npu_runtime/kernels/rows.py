"""Rows by number: checked, taken, combined into other rows. Everything that gathers, scatters or reduces segments uses it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csc_matrix

from npu_runtime.errors import InvalidArgument
from npu_runtime.kernels.access import shape_text
from npu_runtime.kernels.parallel import parallel_ranges, scratch

SMALL = 4096
"""Elements up to which one ufunc.at is faster than setting up a sparse product."""
GRAIN_BYTES = 1 << 20


def check_range(indices: np.ndarray, n_rows: int, name: str = "indices") -> None:
    """Raises: InvalidArgument naming the first index outside [0, n_rows), as TensorFlow words it."""
    if indices.size and (indices.min() < 0 or indices.max() >= n_rows):
        place = int(np.flatnonzero((indices.reshape(-1) < 0) | (indices.reshape(-1) >= n_rows))[0])
        wrong = indices.reshape(-1)[place]
        raise InvalidArgument(f"{name}{position_text(indices.shape, place)} = {wrong} is not in [0, {n_rows})")


def position_text(shape: tuple[int, ...], place: int) -> str:
    """The place of a flat offset in a shape, as in `indices[0,3]`; empty for a scalar."""
    return shape_text([int(n) for n in np.unravel_index(place, shape)]) if shape else ""


def take(source: np.ndarray, numbers: np.ndarray, out: np.ndarray) -> np.ndarray:
    """out[i] = source[numbers[i]] for a 2-d source and checked numbers; out is (numbers.size, inner)."""
    grain = max(1, GRAIN_BYTES // max(out.itemsize * out.shape[1], 1))

    def work(start: int, stop: int) -> None:
        np.take(source, numbers[start:stop], axis=0, out=out[start:stop], mode="clip")

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

    target: (R, inner), contiguous, changed in place.  updates: (n, inner).  Sums run in the same order as one by one, but a
    row's updates are added up before they meet the row.
    """
    if updates.size == 0:
        return
    if updates.size > SMALL and operation in (np.add, np.subtract) and target.dtype.itemsize >= 4:
        if target.shape[0] <= 4 * numbers.size:
            operation(target, sums(numbers, updates, target.shape[0]), out=target)
            return
        first, places = first_places(numbers, target.shape[0])
        if first.size < numbers.size:
            updates = sums(places, updates, first.size)
        _combine_distinct(operation, target, numbers[first], updates)
        return
    inner = target.shape[1]
    places = (numbers.astype(np.int64)[:, None] * inner + np.arange(inner)).reshape(-1)
    operation.at(target.reshape(-1), places, updates.reshape(-1))


def _combine_distinct(operation: np.ufunc, target: np.ndarray, numbers: np.ndarray, updates: np.ndarray) -> None:
    """As `combine`, for rows that are all different. A row moves as one item, four times faster than its elements."""
    rows = target.view(np.dtype((np.void, target.itemsize * target.shape[1]))).reshape(-1)

    def work(start: int, stop: int) -> None:
        named = numbers[start:stop]
        taken = rows.take(named)
        old = taken.view(target.dtype).reshape(len(named), -1)
        operation(old, updates[start:stop], out=old)
        rows[named] = taken

    parallel_ranges(numbers.size, work, max(1, GRAIN_BYTES // 4 // max(target.itemsize * target.shape[1], 1)))


def first_places(numbers: np.ndarray, n_values: int) -> tuple[np.ndarray, np.ndarray]:
    """(where each number is first, in order; which of those each entry is) for numbers in [0, n_values).

    A table of all values instead of sorting; only the entries that occur are ever touched.
    """
    kind = np.int32 if numbers.size < 1 << 31 else np.int64
    places = np.arange(numbers.size, dtype=kind)
    table = scratch("first places", (n_values,), kind)
    table[numbers[::-1]] = places[::-1]  # the last one written stays: the first place
    first = np.flatnonzero(table[numbers] == places)
    table[numbers[first]] = np.arange(first.size, dtype=kind)
    return first, table[numbers]


def sums(numbers: np.ndarray, updates: np.ndarray, n_rows: int) -> np.ndarray:
    """(n_rows, inner): the updates of each row added up in order, 0 for a row that none names.

    A matrix with a single 1 in column i, at row numbers[i], times the updates: no sorting.
    """
    if updates.dtype.itemsize < 4:
        wide = np.float32 if updates.dtype.kind not in "iu" else np.int32
        return sums(numbers, updates.astype(wide), n_rows).astype(updates.dtype)
    ones = np.ones(numbers.size, updates.dtype)
    chooser = csc_matrix((ones, numbers, np.arange(numbers.size + 1)), shape=(n_rows, numbers.size), copy=False)
    return np.asarray(chooser @ np.ascontiguousarray(updates))


def as_rows(array: np.ndarray, n_rows: int) -> np.ndarray:
    """A contiguous array seen as n_rows rows, also when it is empty."""
    return array.reshape(n_rows, array.size // n_rows if n_rows else 0)
