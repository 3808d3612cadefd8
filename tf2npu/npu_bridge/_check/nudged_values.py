"""Values that are changed by as much as rounding them might have done."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

EPSILON_32, EPSILON_16 = 2.0**-23, 2.0**-11
"""Relative, a step of the last digit of float32, and half of one of float16: what rounding changes a number by at most, about."""
_PIECE = 1 << 20
"""Numbers that are changed at once: what is drawn for them takes several times as much memory."""


def nudged(values: Mapping[str, np.ndarray], epsilon: float) -> dict[str, np.ndarray]:
    """The values, each float changed by `epsilon` of itself up or down: what rounding might have done."""
    draws = np.random.RandomState(0)
    return {name: _nudged(value, epsilon, draws) for name, value in values.items()}


def _nudged(value: np.ndarray, epsilon: float, draws: np.random.RandomState) -> np.ndarray:
    if value.dtype.kind != "f":
        return value
    epsilon = max(epsilon, EPSILON_16) if value.itemsize < 4 else epsilon
    flat = value.reshape(-1)
    made = np.empty(flat.shape, np.float32 if value.itemsize < 8 else np.float64)
    for begin in range(0, flat.size, _PIECE):
        piece = flat[begin : begin + _PIECE]
        signs = draws.randint(0, 2, piece.shape) * 2 - 1
        made[begin : begin + _PIECE] = piece.astype(np.float64) * (1 + epsilon * signs)
    return made.reshape(value.shape)
