"""What the ten figures hide: steps of the element type, elements that are off, NaN and infinity, signal to noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from tf2npu.comparison.block_sums import BLOCK

_INTEGER_OF: dict[int, Any] = {2: np.int16, 4: np.int32, 8: np.int64}
_MOST_STEPS_KEPT = 1 << 20
"""Elements whose steps are kept for the median, evenly spaced in a longer tensor: enough for three digits, and 8 MB."""


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


def narrower(one: np.dtype, other: np.dtype) -> np.dtype | None:
    """The floating type with fewer digits of the two; None where neither is one."""
    floats = [dtype for dtype in (_real(one), _real(other)) if is_float(dtype)]
    return min(floats, key=lambda dtype: (dtype.itemsize, -ml_dtypes.finfo(dtype).eps), default=None)


def is_float(dtype: np.dtype) -> bool:
    return dtype.kind == "f" or dtype == ml_dtypes.bfloat16


def _real(dtype: np.dtype) -> np.dtype:
    return np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype


def measures(x: np.ndarray, y: np.ndarray, rtol: float, atol: float) -> Measures:
    """Of two arrays of one dimension and equal length.

    rtol: of the reference's element.  atol: in units of the reference's root mean square, as what is small depends on that.
    """
    with np.errstate(all="ignore"):
        return _measures(x, y, rtol, atol * _root_mean_square(y))


def _root_mean_square(y: np.ndarray) -> float:
    total = 0.0
    for part in _blocks(len(y)):
        block = _doubles(y[part])
        total += float(np.square(block[np.isfinite(block)]).sum())
    return math.sqrt(total / len(y)) if len(y) else 0.0


def _measures(x: np.ndarray, y: np.ndarray, rtol: float, least: float) -> Measures:
    dtype = narrower(x.dtype, y.dtype)
    stride = max(1, -(-len(x) // _MOST_STEPS_KEPT))
    n_outside = n_nan = n_infinite = worst = 0
    signal = noise = largest = largest_error = 0.0
    kept = []
    for part in _blocks(len(x)):
        a, b = _doubles(x[part]), _doubles(y[part])
        n_nan += int(np.count_nonzero(np.isnan(a) != np.isnan(b)))
        n_infinite += int(np.count_nonzero((np.isinf(a) | np.isinf(b)) & (a != b) & ~np.isnan(a) & ~np.isnan(b)))
        error = np.abs(a - b)
        n_outside += int(np.count_nonzero(~(error <= least + rtol * np.abs(b)) & (a != b) & ~(np.isnan(a) & np.isnan(b))))
        is_finite = np.isfinite(a) & np.isfinite(b)
        signal += float(np.square(b, where=is_finite, out=np.zeros_like(b)).sum())
        noise += float(np.square(error, where=is_finite, out=np.zeros_like(b)).sum())
        largest = max(largest, _largest(a), _largest(b))
        largest_error = max(largest_error, _largest(error))
        if dtype is not None:
            apart = steps(x[part], y[part], dtype)
            worst = max(worst, int(apart.max(initial=0)))
            kept.append(apart[-part.start % stride :: stride])
    median = float(np.median(np.concatenate(kept))) if kept else 0.0
    known = dtype is not None
    return Measures(
        len(x), worst if known else None, median if known else None, n_outside, n_nan, n_infinite, _decibels(signal, noise),
        largest, largest_error,
    )  # fmt: skip


def _blocks(n: int) -> list[slice]:
    return [slice(start, min(start + BLOCK, n)) for start in range(0, n, BLOCK)]


def _doubles(block: np.ndarray) -> np.ndarray:
    """In float64; the real part of complex numbers."""
    return block.real.astype(np.float64)


def _largest(block: np.ndarray) -> float:
    return float(np.abs(block).max(where=np.isfinite(block), initial=0.0))


def _decibels(signal: float, noise: float) -> float:
    if noise == 0:
        return math.inf
    return 10 * math.log10(signal / noise) if signal else -math.inf


def steps(x: np.ndarray, y: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Representable numbers of a type from x to y, element by element; 0 for NaN on both sides, the most for one side."""
    a, b = x.real.astype(dtype), y.real.astype(dtype)
    most = np.uint64(np.iinfo(_INTEGER_OF[dtype.itemsize]).max)
    one, other = (_ordered(array) for array in (a, b))
    apart = np.where(one > other, one - other, other - one).view(np.uint64)
    is_nan = np.isnan(a), np.isnan(b)
    apart = np.where(is_nan[0] != is_nan[1], most, np.minimum(apart, most))
    apart[is_nan[0] & is_nan[1]] = 0
    return apart


def _ordered(array: np.ndarray) -> np.ndarray:
    """Integers that are in the order of the numbers, without gaps; both zeros are 0."""
    bits = array.view(_INTEGER_OF[array.dtype.itemsize]).astype(np.int64)
    least = np.int64(np.iinfo(_INTEGER_OF[array.dtype.itemsize]).min)
    return np.where(bits < 0, least - bits, bits)
