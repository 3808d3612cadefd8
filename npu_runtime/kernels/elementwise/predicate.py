"""The truth of a tensor as conditionals take it."""

from __future__ import annotations

import numpy as np

from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.shapes import scalar


@kernel("ToBool", unit="scalar", shape=scalar)
def to_bool(input: np.ndarray, /) -> np.ndarray:
    """Whether a scalar is not 0, or a tensor of higher rank not empty: () bool.  Source: TensorFlow op `ToBool`."""
    return np.array(input.size > 0 if input.ndim else bool(input))
