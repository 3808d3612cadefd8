"""The distance of two tensors."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

_ROUNDING = 1e-4
"""Relative distance of what is fed that other kernels explain: the state of a recurrent network after some steps is 1e-6 off."""
_PIECE = 1 << 20
"""Numbers that are looked at at once: the float64 copies of a large tensor would be several times its size."""


def distance(one: np.ndarray, other: np.ndarray) -> float:
    """Norm of the difference over that of `other`; of integers and booleans the share of elements that differ.

    Infinite where the shapes differ, where one has a NaN or an infinity that the other has not, and where only `other` is zero.
    """
    if one.shape != other.shape:
        return math.inf
    if one.dtype.kind in "iub" and other.dtype.kind in "iub":
        return float(np.mean(one != other)) if one.size else 0.0
    apart, size = 0.0, 0.0
    for x, y in zip(_pieces(one), _pieces(other), strict=True):
        strange = ~(np.isfinite(x) & np.isfinite(y))
        if strange.any():
            if not _have_same_places(x[strange], y[strange]):
                return math.inf
            x, y = x[~strange], y[~strange]
        apart, size = math.hypot(apart, np.linalg.norm(x - y)), math.hypot(size, np.linalg.norm(y))
    return 0.0 if apart == 0.0 else apart / size if size else math.inf


def norm(value: np.ndarray) -> float:
    """The norm of a tensor's finite numbers."""
    found = 0.0
    for piece in _pieces(value):
        found = math.hypot(found, np.linalg.norm(np.nan_to_num(piece, copy=False, nan=0.0, posinf=0.0, neginf=0.0)))
    return found


def _pieces(value: np.ndarray) -> Iterator[np.ndarray]:
    """The numbers of a tensor as float64, some at a time."""
    flat = value.reshape(-1)
    for begin in range(0, max(flat.size, 1), _PIECE):
        yield flat[begin : begin + _PIECE].astype(np.float64)


def _have_same_places(x: np.ndarray, y: np.ndarray) -> bool:
    return bool(np.array_equal(np.isnan(x), np.isnan(y)) and np.array_equal(np.nan_to_num(x), np.nan_to_num(y)))


def is_alike(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two runs were given the same: floats may be off by rounding, as a script may feed what it fetched before."""
    return distance(np.asarray(one), np.asarray(other)) <= _ROUNDING
