"""Sketches of tensors: a few numbers by which two tensors of different processes are compared.

Each is a sum over a part of the elements, with signs that are drawn once for a size, in float64 (the "count sketch" of Charikar,
Chen and Farach-Colton, 2002): equal tensors have equal sketches, and the distance of two sketches is about that of their tensors.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from npu_formats.documents.training_steps import BUCKETS
from npu_formats.documents.written_steps import as_json


@cache
def _signs(length: int) -> np.ndarray:
    return np.random.default_rng(length).integers(0, 2, length, np.int8) * 2 - 1


def sketch(array: np.ndarray) -> list[Any]:
    """The sketch of an array's numbers, as JSON holds it."""
    flat = np.asarray(array).reshape(-1).astype(np.float64)
    padded = np.zeros(-(-flat.size // BUCKETS) * BUCKETS)
    with np.errstate(invalid="ignore"):
        padded[: flat.size] = flat * _signs(flat.size)
        return [as_json(value) for value in padded.reshape(-1, BUCKETS).sum(0).tolist()]
