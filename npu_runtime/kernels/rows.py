"""Rows by number: checked, taken, combined into other rows. Everything that gathers, scatters or reduces segments uses it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from npu_runtime.errors import InvalidArgument
from npu_runtime.kernels.access import shape_text
from npu_runtime.kernels.parallel import parallel_ranges, scratch

SMALL = 4096
"""Elements up to which one ufunc.at is faster than moving whole rows."""
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

    target: (R, inner), contiguous, changed in place.  updates: (n, inner).
    """
    numbers, updates = numbers.astype(np.intp, copy=False), np.ascontiguousarray(updates)
    if updates.size > SMALL and target.shape[1] > 1:
        places, first_of_each = _first_of_each(numbers, len(target))
        is_first = first_of_each == places
        if is_first.all():
            _combine_distinct(operation, target, numbers, updates)
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
    places, first_of_each = _first_of_each(numbers, n_values)
    is_first = first_of_each == places
    ranks = np.cumsum(is_first, dtype=places.dtype) - places.dtype.type(1)
    return np.flatnonzero(is_first), ranks.take(first_of_each, mode="clip")


def as_items(x: np.ndarray) -> np.ndarray:
    """(..., n) as (...): each run of the last axis, which is contiguous, as one opaque item that numpy moves whole."""
    return x.view(f"V{x.itemsize * x.shape[-1]}")[..., 0]


def as_rows(array: np.ndarray, n_rows: int) -> np.ndarray:
    """A contiguous array seen as n_rows rows, also when it is empty."""
    return array.reshape(n_rows, array.size // n_rows if n_rows else 0)
