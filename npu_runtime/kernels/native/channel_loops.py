"""Local response normalisation between the sums over channels, with the roundings of numpy's calls, in fp32.

All arrays are (n,), contiguous. sums: of the squares of a channel's neighbours; norm = sums * alpha + bias. root: how the power
of beta is made, 0 for 1, 1 for a half, 2 for three quarters, as `inverse_power` makes it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from npu_runtime.kernels.native.compiled import loop

Array = Any
"""A (n,) array of fp32."""
Number = Any
"""An fp32 number."""


@loop("void(f4[::1], f4[::1], f4[::1], f4, f4, i8)")
def normalize(x: Array, sums: Array, y: Array, alpha: Number, bias: Number, root: int) -> None:
    """y = x * norm ** -beta."""
    one = np.float32(1)
    for i in range(x.size):
        norm = sums[i] * alpha + bias
        if root > 0:
            half = np.sqrt(norm)
            norm = half * np.sqrt(half) if root == 2 else half
        y[i] = x[i] * (one / norm)


@loop("void(f4[::1], f4[::1], f4[::1], f4[::1], f4[::1], f4, f4, i8)")
def begin_gradient(
    dy: Array, y: Array, sums: Array, direct: Array, share: Array, alpha: Number, bias: Number, root: int
) -> None:  # fmt: skip
    """direct = norm ** -beta * dy; share = dy * y / norm, which is then summed over channels."""
    one = np.float32(1)
    for i in range(dy.size):
        norm = sums[i] * alpha + bias
        power = norm
        if root > 0:
            half = np.sqrt(norm)
            power = half * np.sqrt(half) if root == 2 else half
        direct[i] = (one / power) * dy[i]
        share[i] = (dy[i] * y[i]) / norm


@loop("void(f4[::1], f4[::1], f4[::1], f4[::1], f4)")
def end_gradient(shared: Array, x: Array, direct: Array, dx: Array, factor: Number) -> None:
    """dx = shared * x * factor + direct."""
    for i in range(x.size):
        dx[i] = (shared[i] * x[i]) * factor + direct[i]
