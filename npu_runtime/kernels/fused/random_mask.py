"""The mask of a dropout by the random bits: uniform numbers compared without being made."""

from __future__ import annotations

import numpy as np

from npu_runtime.cost.work import per_element
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.random.normals import uniform_at_least
from npu_runtime.kernels.random.random import State, draw, given_shape, output

RANDOM_MASK = "_RandomMask"


@kernel(RANDOM_MASK, unit="vector", shape=given_shape, estimate=per_element(2))
def random_mask(
    shape: np.ndarray, bound: np.ndarray, /, *, seed: int = 0, seed2: int = 0, state: State, out: np.ndarray | None = None
) -> np.ndarray:
    """Whether each number that `RandomUniform` gives in fp32 is at least `bound`, a scalar of fp32: what dropout keeps."""
    return draw(output(shape, np.dtype(bool), out), uniform_at_least(float(bound)), seed, seed2, state)
