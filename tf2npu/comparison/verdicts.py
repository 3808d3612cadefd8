"""Whether a row agrees, and which threshold it misses."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from tf2npu.comparison.extra_metrics import Measures, narrower
from tf2npu.comparison.metrics import ALGORITHMS
from tf2npu.comparison.rows import Row

AGREES, DIFFERS, ROUNDING, NOT_COMPARED = "agrees", "differs", "rounding", "not compared"
"""Verdicts of a row.  ROUNDING: both sides are right, and what differs is rounding, mostly what is left of a sum that cancels."""
COSINE, DISTANCE, DIVERGENCE = "CosineSimilarity", "RelativeEuclideanDistance", "KullbackLeiblerDivergence"
OUTSIDE, RTOL, ATOL = "ShareOutside", "rtol", "atol"
OF_16_BITS = {COSINE: 0.99, DISTANCE: 0.05, DIVERGENCE: 0.005, RTOL: 0.001, ATOL: 0.001, OUTSIDE: 1.0}
"""The vendor's: its comparison documents, and precision_tool's view of elements for rtol and atol.  They have no share of
elements, so there is no limit to it."""
OF_32_BITS = {COSINE: 0.99999, DISTANCE: 3.5e-5, DIVERGENCE: 1e-6, RTOL: 1e-4, ATOL: 1e-4, OUTSIDE: 0.001}
"""Ten times as far as TensorFlow is from itself, with oneDNN on or off and with one thread or two: 95 % of the tensors of a
training step are within 3.5e-6 of each other, and no divergence is above 6.3e-8 (benchmarks/tensor_spread.py).  The other 5 % are
sums that cancel in part, which tf2npu.comparison.rounding knows.  A cosine in float32 is not known to more than 1e-6."""
EXACT = {RTOL: 0.0, ATOL: 0.0, OUTSIDE: 0.0}
"""Limits for integers and booleans: any element that differs is a difference."""
JUDGED = tuple(name for name in ALGORITHMS if name != "StandardDeviation")
"""Figures that a threshold may be given for."""
NAMES = (*JUDGED, OUTSIDE, RTOL, ATOL)
ONE_SIDED = "NaN or infinity on one side"


@dataclass(frozen=True)
class Thresholds:
    """given: by the user, in place of the defaults of every type."""

    given: Mapping[str, float] = field(default_factory=dict)

    def of(self, device: np.dtype, reference: np.dtype) -> dict[str, float]:
        """The thresholds of a pair of element types."""
        dtype = narrower(device, reference)
        if dtype is None:
            return {**EXACT, **self.given}
        return {**(OF_16_BITS if dtype.itemsize == 2 else OF_32_BITS), **self.given}


def judge(row: Row, limits: Mapping[str, float]) -> None:
    """Put the verdict, and what is missed, into a row that has figures."""
    assert row.measures is not None
    row.missed = list(_missed(row.values, row.measures, limits))
    row.verdict = DIFFERS if row.missed else AGREES
    row.why = "; ".join(told(name, value, limit) for name, value, limit in row.missed)


def told(name: str, value: float, limit: float) -> str:
    """A threshold that is missed, in words."""
    sign = "<" if name == COSINE else ">"
    return f"{name} {_shown(value)} {sign} {_shown(limit)}" if name != ONE_SIDED else f"{name}: {value:.0f}"


def _shown(value: float) -> str:
    return f"{value:.10g}" if 0.9 < value < 1 else f"{value:.4g}"


def _missed(values: Mapping[str, float], found: Measures, limits: Mapping[str, float]) -> Iterator[tuple[str, float, float]]:
    """Each (name, value, limit).

    Of a scalar the cosine says nothing.  The divergence blows up the rounding of an array that is nearly constant, so it counts
    only where elements are outside the tolerances.  Where the reference is zero, the distance is 0 whatever the device has.
    """
    if found.n_nan or found.n_infinite:
        yield ONE_SIDED, float(found.n_nan + found.n_infinite), 0.0
    for name in JUDGED:
        value, limit = values.get(name, math.nan), limits.get(name, math.nan)
        if math.isnan(value) or math.isnan(limit):
            continue
        is_missed = value < limit and found.n > 1 if name == COSINE else value > limit
        if is_missed and (name != DIVERGENCE or found.n_outside):
            yield name, value, limit
    hides = values.get(DISTANCE) == 0 and found.largest_error > 0 and found.n_outside > 0
    if found.share_outside > limits.get(OUTSIDE, 1.0) or hides:
        yield OUTSIDE, found.share_outside, 0.0 if hides else limits[OUTSIDE]
