"""Checks that a generated case must satisfy.

ulp    element-wise: within 4 units in the last place of the float64 result rounded to the type, or no farther from the
       float64 result than TensorFlow's own kernel; results below the smallest normal number may be zero on either side
sum    sums and products of many terms: within eps * (4 + 2 sqrt(terms)) times the sum of the terms' magnitudes of the
       float64 result, or no farther from it than TensorFlow's
exact  equal: integers, booleans, and data that is only moved
close  no float64 kernel to compare with: relative to the type and the largest magnitude, as the listed cases
"""

from __future__ import annotations

import numpy as np

from npu_runtime import dtypes as dt

SMALLEST_NORMAL = 1.1754944e-38
EPSILON = {"float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}
ULPS = {"float32": 4, "float16": 1, "bfloat16": 1}
CLOSE = {"float32": 4e-6, "float16": 2e-3, "bfloat16": 1.6e-2}
_BITS = {2: np.int16, 4: np.int32}


def _ordered(x: np.ndarray) -> np.ndarray:
    """Integers in the order of the floats, neighbours one apart; both zeros are 0."""
    bits = np.asarray(x, order="C").view(_BITS[x.itemsize]).astype(np.int64)
    lowest = np.int64(np.iinfo(_BITS[x.itemsize]).min)
    return np.where(bits < 0, lowest - bits, bits)


def _same(actual: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    return (actual == theirs) | (np.isnan(actual) & np.isnan(theirs))


def _no_farther(actual: np.ndarray, theirs: np.ndarray, wide: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.abs(actual.astype(np.float64) - wide) <= np.abs(theirs.astype(np.float64) - wide)


def wrong_ulp(actual: np.ndarray, theirs: np.ndarray, wide: np.ndarray) -> np.ndarray:
    """Mask of the elements that break the element-wise bound."""
    with np.errstate(all="ignore"):
        rounded = wide.astype(actual.dtype)
        near = np.abs(_ordered(actual) - _ordered(rounded)) <= ULPS[actual.dtype.name]
        comparable = ~np.isnan(actual) & ~np.isnan(rounded)
        tiny = (np.abs(wide) < SMALLEST_NORMAL) & (np.abs(actual.astype(np.float64)) <= SMALLEST_NORMAL)
        fine = _same(actual, theirs) | _same(actual, rounded) | (near & comparable) | tiny
        return ~(fine | _no_farther(actual, theirs, wide))


def wrong_sum(actual: np.ndarray, theirs: np.ndarray, wide: np.ndarray, magnitude: np.ndarray, terms: int) -> np.ndarray:
    """Mask of the elements that break the bound of a sum of `terms` terms; a 16-bit result is rounded once more."""
    with np.errstate(all="ignore"):
        bound = EPSILON["float32"] * (4 + 2 * np.sqrt(terms)) * magnitude
        bound = bound + 2 * EPSILON[actual.dtype.name] * np.abs(wide) + SMALLEST_NORMAL
        error = np.abs(actual.astype(np.float64) - wide)
        fine = _same(actual, theirs) | _same(actual, wide.astype(actual.dtype)) | (error <= bound)
        return ~(fine | _no_farther(actual, theirs, wide))


def wrong_close(actual: np.ndarray, theirs: np.ndarray, relative: float, absolute: float) -> np.ndarray:
    """Mask of the elements at which two results of a type differ too much."""
    mine, other = actual.astype(np.float64), theirs.astype(np.float64)
    finite = np.abs(other[np.isfinite(other)])
    with np.errstate(all="ignore"):
        bound = relative * (np.abs(other) + (finite.max() if finite.size else 0.0)) + absolute + SMALLEST_NORMAL
        return ~(_same(actual, theirs) | (np.abs(mine - other) <= bound))


def wrong_exact(actual: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    is_float = actual.dtype.kind in "fV" or actual.dtype.name in dt.FLOATS
    return ~_same(actual, theirs) if is_float else actual != theirs
