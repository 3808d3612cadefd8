"""The passes of batch normalisation over lines of pixels, in fp32, with the roundings of numpy's calls.

Matrices are (lines, width), contiguous; vectors (width,), one value a channel, repeated for all pixels of a line.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from npu_runtime.kernels.native.compiled import loop

Lines = Any
"""A (lines, width) array of fp32."""
Vector = Any
"""A (width,) array of fp32 that is only read."""


@loop("void(f4[:,::1], f4[:,::1], Array(f4, 1, 'C', True), Array(f4, 1, 'C', True))")
def scale_and_shift(x: Lines, y: Lines, scale: Vector, constant: Vector) -> None:
    """y = x * scale + constant."""
    for i in range(x.shape[0]):
        line, target = x[i], y[i]
        for c in range(line.size):
            target[c] = line[c] * scale[c] + constant[c]


@loop("void(f4[:,::1], f4[:,::1], f4[:,::1], Array(f4, 1, 'C', True), Array(f4, 1, 'C', True))")
def scale_shift_and_add(x: Lines, y: Lines, side: Lines, scale: Vector, constant: Vector) -> None:
    """y = x * scale + constant + side."""
    for i in range(x.shape[0]):
        line, target, added = x[i], y[i], side[i]
        for c in range(line.size):
            target[c] = (line[c] * scale[c] + constant[c]) + added[c]


@loop("void(f4[:,::1], f4[:,::1], f4[:,::1], Array(f4, 1, 'C', True), Array(f4, 1, 'C', True), Array(f4, 1, 'C', True))")
def combine(dy: Lines, x: Lines, dx: Lines, scale: Vector, slope: Vector, constant: Vector) -> None:
    """dx = dy * scale + x * slope + constant.  dx may be dy or x."""
    for i in range(x.shape[0]):
        gradient, line, target = dy[i], x[i], dx[i]
        for c in range(line.size):
            target[c] = (gradient[c] * scale[c] + line[c] * slope[c]) + constant[c]


@loop("void(f4[:,::1], f4[:,::1], f4[::1])")
def products(left: Lines, right: Lines, sums: Any) -> None:
    """sums = the sum of the lines of left * right, each product rounded before it is added, in order."""
    sums[:] = np.float32(0)
    for i in range(left.shape[0]):
        one, other = left[i], right[i]
        for c in range(one.size):
            sums[c] += one[c] * other[c]
