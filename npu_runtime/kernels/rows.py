"""Rows by number: checked, taken, combined into other rows. Everything that gathers, scatters or reduces segments uses it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import _sparsetools

from npu_runtime.errors import InvalidArgument
from npu_runtime.kernels.access import shape_text
from npu_runtime.kernels.parallel import parallel_ranges, scratch

SMALL = 4096
"""Elements up to which one ufunc.at is faster than setting up a sparse product."""
GRAIN_BYTES = 1 << 20
NARROW_BYTES = 256
CACHE_BYTES = 1 << 20
FETCHED_BYTES = 1 << 16
"""Rows up to NARROW_BYTES of a target beyond CACHE_BYTES are fetched FETCHED_BYTES at a time before they are added to."""


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
    if updates.size > SMALL and operation in (np.add, np.subtract) and target.dtype.itemsize >= 4:
        ones = np.ones(numbers.size, target.dtype)
        _add(target, numbers, ones if operation is np.add else np.negative(ones), updates)
    elif updates.size:
        inner = target.shape[1]
        places = (numbers.astype(np.int64)[:, None] * inner + np.arange(inner)).reshape(-1)
        operation.at(target.reshape(-1), places, updates.reshape(-1))


def _add(target: np.ndarray, numbers: np.ndarray, factors: np.ndarray, updates: np.ndarray) -> None:
    """target[numbers[i]] += factors[i] * updates[i] for i in order: a matrix with one number a column, times the updates.

    SciPy adds to what is there. Narrow rows of a large target are fetched beforehand, some hundred at once: one after the other,
    each would be waited for.
    """
    numbers = np.ascontiguousarray(numbers, np.int32 if numbers.dtype == np.int32 else np.int64)
    (n_rows, inner), n, flat = target.shape, numbers.size, np.ascontiguousarray(updates).reshape(-1)
    starts = np.arange(n + 1, dtype=numbers.dtype)
    if inner == 1:
        _sparsetools.csc_matvec(n_rows, n, starts, numbers, factors, flat, target.reshape(-1))
        return
    row_bytes = target.itemsize * inner
    is_fetched = row_bytes <= NARROW_BYTES and target.nbytes > CACHE_BYTES
    step = FETCHED_BYTES // row_bytes if is_fetched else n
    rows = target.view(np.dtype((np.void, row_bytes))).reshape(-1)
    for first in range(0, n, step):
        named = numbers[first : first + step]
        if is_fetched:
            rows.take(named.astype(np.intp), mode="clip")
        part = flat[first * inner : (first + step) * inner]
        _sparsetools.csc_matvecs(n_rows, named.size, inner, starts, named, factors, part, target.reshape(-1))


def first_places(numbers: np.ndarray, n_values: int) -> tuple[np.ndarray, np.ndarray]:
    """(where each number is first, in order; which of those each entry is) for numbers in [0, n_values).

    A table of all values instead of sorting; only the entries that occur are ever touched.
    """
    kind: Any = np.int32 if numbers.size < 1 << 31 else np.int64
    places = np.arange(numbers.size, dtype=kind)
    table = scratch("first places", (n_values,), kind)
    table[np.ascontiguousarray(numbers[::-1])] = places[::-1].copy()  # the last one written stays: the first place
    first_of_each = table.take(numbers, mode="clip")  # all are inside; "raise" looks once more
    is_first = first_of_each == places
    return np.flatnonzero(is_first), (np.cumsum(is_first, dtype=kind) - kind(1)).take(first_of_each, mode="clip")


def as_rows(array: np.ndarray, n_rows: int) -> np.ndarray:
    """A contiguous array seen as n_rows rows, also when it is empty."""
    return array.reshape(n_rows, array.size // n_rows if n_rows else 0)
