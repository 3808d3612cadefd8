"""Element-wise gradients in one pass, with the roundings of numpy's calls, in fp32. All arrays are (n,), contiguous."""

from __future__ import annotations

from typing import Any

import numpy as np

from npu_runtime.kernels.native.compiled import loop

Array = Any
"""A (n,) array of fp32."""


@loop("void(f4[::1], f4[::1], f4[::1])")
def relu_gradient(out: Array, gradients: Array, features: Array) -> None:
    """out = gradients times 1 where the feature is positive, else times 0, which NaN survives.  out may be an operand."""
    one, none = np.float32(1), np.float32(0)
    for i in range(out.size):
        out[i] = gradients[i] * (one if features[i] > none else none)
