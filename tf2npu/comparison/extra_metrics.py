"""Measures that the ten figures hide: steps of the element type, elements that are off, NaN and infinity, signal to noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import ml_dtypes
import numpy as np

from tf2npu.comparison.metrics import Finite
from tf2npu.comparison.tensors.block_sums import BLOCK

_INTEGER_OF: dict[int, Any] = {2: np.int16, 4: np.int32, 8: np.int64}
_UNSIGNED_OF: dict[int, Any] = {2: np.uint16, 4: np.uint32, 8: np.uint64}
_MOST_STEPS_KEPT = 1 << 14
"""Elements whose steps are kept for the median, evenly spaced in a longer tensor: their median is within 1 % of the ranks."""


@dataclass(frozen=True)
class Measures:
    """ulp_worst, ulp_median: steps of the narrower type between the elements; None for types without steps.
    n_outside: elements outside the tolerances.  n_nan, n_infinite: elements that are NaN, or infinite, on one side only.
    signal_to_noise_db: of the finite elements; infinite where they are equal.  largest: amount among the finite ones of both.
    """

    n: int
    ulp_worst: int | None
    ulp_median: float | None
    n_outside: int
    n_nan: int
    n_infinite: int
    signal_to_noise_db: float
    largest: float
    largest_error: float

    @property
    def share_outside(self) -> float:
        return self.n_outside / self.n if self.n else 0.0


@lru_cache(maxsize=256)
def narrower(one: np.dtype, other: np.dtype) -> np.dtype | None:
    """The floating type with fewer digits of the two; None where neither is one."""
    floats = [dtype for dtype in (_real(one), _real(other)) if is_float(dtype)]
    return min(floats, key=lambda dtype: (dtype.itemsize, -ml_dtypes.finfo(dtype).eps), default=None)


def is_float(dtype: np.dtype) -> bool:
    return dtype.kind == "f" or dtype == ml_dtypes.bfloat16


def _real(dtype: np.dtype) -> np.dtype:
    return np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype


def measures(x: np.ndarray, y: np.ndarray, rtol: float, atol: float, finite: Finite | None = None) -> Measures:
    """Measures of two arrays of one dimension and equal length.

    rtol: of the reference's element.  atol: in units of the reference's root mean square, as what is small depends on that.
    finite: what is known of them already.
    """
    dtype = narrower(x.dtype, y.dtype)
    with np.errstate(all="ignore"):
        if finite is not None and dtype is not None and x.dtype.kind != "c" and y.dtype.kind != "c":
            return _of_finite(x, y, dtype, (rtol, atol * math.sqrt(finite.signal / len(x))), finite)
        return _of_any(x, y, dtype, (rtol, atol * _root_mean_square(y)))


def _of_finite(x: np.ndarray, y: np.ndarray, dtype: np.dtype, tolerances: tuple[float, float], finite: Finite) -> Measures:
    """Measures in float32, as nothing is out of its range."""
    if not finite.largest_error:
        return Measures(len(x), 0, 0.0, 0, 0, 0, math.inf, finite.largest, 0.0)
    rtol, least = map(np.float32, tolerances)
    n_outside = 0
    found = _Steps(dtype, len(x))
    for part in _blocks(len(x)):
        a, b = x[part], y[part]
        one, other = a.astype(np.float32, copy=False), b.astype(np.float32, copy=False)
        error = one - other
        n_outside += int(np.count_nonzero(np.abs(error, out=error) > np.abs(other) * rtol + least))
        found.add(a, b, part.start)
    ulps = found.worst, found.median() if found.worst else 0.0
    return Measures(len(x), *ulps, n_outside, 0, 0, _decibels(finite.signal, finite.noise), finite.largest, finite.largest_error)


class _Steps:
    """Gathers steps block by block: the worst of all, and those for the median."""

    def __init__(self, dtype: np.dtype | None, n: int) -> None:
        self.dtype, self.worst = dtype, 0
        self._stride = max(1, -(-n // _MOST_STEPS_KEPT))
        self._kept: list[np.ndarray] = []

    def add(self, x: np.ndarray, y: np.ndarray, start: int) -> None:
        if self.dtype is not None:
            apart = steps(x, y, self.dtype)
            self.worst = max(self.worst, int(apart.max(initial=0)))
            self._kept.append(apart[-start % self._stride :: self._stride])

    def median(self) -> float:
        """The median as of numpy.median, which takes several times as long for a few elements."""
        if not self._kept:
            return 0.0
        kept = np.concatenate(self._kept)
        upper = len(kept) // 2
        lower = upper - 1 + len(kept) % 2
        ordered = np.partition(kept, (lower, upper))
        return (float(ordered[lower]) + float(ordered[upper])) / 2


def _root_mean_square(y: np.ndarray) -> float:
    total = 0.0
    for part in _blocks(len(y)):
        block = _doubles(y[part])
        total += float(np.square(block[np.isfinite(block)]).sum())
    return math.sqrt(total / len(y)) if len(y) else 0.0


def _of_any(x: np.ndarray, y: np.ndarray, dtype: np.dtype | None, tolerances: tuple[float, float]) -> Measures:
    rtol, least = tolerances
    n_outside = n_nan = n_infinite = 0
    signal = noise = largest = largest_error = 0.0
    found = _Steps(dtype, len(x))
    for part in _blocks(len(x)):
        a, b = _doubles(x[part]), _doubles(y[part])
        is_nan = np.isnan(a), np.isnan(b)
        n_nan += int(np.count_nonzero(is_nan[0] != is_nan[1]))
        n_infinite += int(np.count_nonzero((np.isinf(a) | np.isinf(b)) & (a != b) & ~is_nan[0] & ~is_nan[1]))
        error = np.abs(a - b)
        is_equal = (x[part] == y[part]) | (is_nan[0] & is_nan[1])
        is_within = (error <= least + rtol * np.abs(b)) & np.isfinite(error) & (rtol + least > 0)
        n_outside += int(np.count_nonzero(~(is_equal | is_within)))
        is_finite = np.isfinite(a) & np.isfinite(b)
        signal += float(np.square(b, where=is_finite, out=np.zeros_like(b)).sum())
        noise += float(np.square(error, where=is_finite, out=np.zeros_like(b)).sum())
        largest = max(largest, _largest(a), _largest(b))
        largest_error = max(largest_error, _largest(error))
        found.add(x[part], y[part], part.start)
    known = dtype is not None
    return Measures(
        len(x), found.worst if known else None, found.median() if known else None, n_outside, n_nan, n_infinite,
        _decibels(signal, noise), largest, largest_error,
    )  # fmt: skip


def _blocks(n: int) -> list[slice]:
    return [slice(start, min(start + BLOCK, n)) for start in range(0, n, BLOCK)]


def _doubles(block: np.ndarray) -> np.ndarray:
    """A block in float64; the real part of complex numbers."""
    return block.real.astype(np.float64)


def _largest(block: np.ndarray) -> float:
    return float(np.abs(block).max(where=np.isfinite(block), initial=0.0))


def _decibels(signal: float, noise: float) -> float:
    if noise == 0:
        return math.inf
    return 10 * (math.log10(signal) - math.log10(noise)) if signal else -math.inf


def steps(x: np.ndarray, y: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Representable numbers of a type from x to y, element by element; 0 for NaN on both sides, the most for one side."""
    a, b = x.real.astype(dtype, copy=False), y.real.astype(dtype, copy=False)
    one, other = (side.view(_INTEGER_OF[dtype.itemsize]) for side in (a, b))
    if (one ^ other).min(initial=0) < 0:  # signs differ; where none do, the amounts are as far apart as the numbers
        one, other = _ordered(a), _ordered(b)
    apart = (np.maximum(one, other) - np.minimum(one, other)).view(_UNSIGNED_OF[dtype.itemsize])
    is_nan = np.isnan(a), np.isnan(b)
    if is_nan[0].any() or is_nan[1].any():
        apart[is_nan[0] != is_nan[1]] = np.iinfo(apart.dtype).max
        apart[is_nan[0] & is_nan[1]] = 0
    return apart


def _ordered(array: np.ndarray) -> np.ndarray:
    """Integers that are in the order of the numbers, without gaps; both zeros are 0.

    The amount without its sign bit, negated where that is set; a difference may wrap around and is right without a sign.
    """
    bits = array.view(_INTEGER_OF[array.dtype.itemsize])
    sign = bits >> (8 * array.dtype.itemsize - 1)
    amount = bits & np.iinfo(bits.dtype).max
    amount ^= sign
    amount -= sign
    return amount
