"""Results of 16 bits in storage of 32: fp32 arrays whose numbers are rounded to those of fp16 or bf16.

numpy's own fp16 arithmetic takes fifty times as long as fp32's, and the numbers are the same: products, sums and quotients of
16-bit numbers computed in fp32 and rounded once are what a 16-bit unit gives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from npu_runtime.device import float_status
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.threads.parallel import scratch
from npu_runtime.kernels.threads.tiling import Body, run_tiled

ROUND = "_Round16"

_SIGN, _EXPONENT = np.uint32(0x80000000), np.uint32(0x7F800000)
_SMALLEST_NORMAL = np.uint32(0x38800000)
"""2^-14 as fp32 bits: numbers below it share fp16's smallest step, 2^-24."""
_TO_MAGIC = np.uint32(13 << 23)
"""Step from 2^e to 2^(e+13), whose fp32 neighbours are 2^(e-10) apart, as fp16 numbers of exponent e are."""
_LAST_EXPONENT = np.uint32(0x47000000)
"""2^15: numbers of a larger exponent are too large, those of this one may be."""
_FEW = 2048
"""Elements below which numpy's own conversion is faster."""
_TOO_LARGE = np.float32(65520)
"""Least number whose nearest one would be 65536, which fp16 has not."""


def to_float16_grid(out: np.ndarray, x: np.ndarray) -> bool:
    """out = the fp16 numbers nearest to x, ties to even; returns whether one was too large.

    out, x: fp32 of one shape, at least 1-d; out may be x.  Adding and taking away a number whose neighbours are as far apart
    as fp16's are there lets the processor round. What is too large becomes infinite, or 65504 in saturation mode.
    """
    if x.size < _FEW and np.abs(x).max(initial=0) < _TOO_LARGE:
        np.copyto(out, x.astype(np.float16))  # numpy's own conversion is faster for few numbers
        return False
    bits = x.view(np.uint32)
    sign, magic = scratch("round sign", x.shape, np.uint32), scratch("round magic", x.shape, np.uint32)
    np.bitwise_and(bits, _SIGN, sign)
    np.bitwise_and(bits, _EXPONENT, magic)
    special = _Special(x) if magic.size and magic.max() >= _LAST_EXPONENT else None
    np.maximum(magic, _SMALLEST_NORMAL, out=magic)
    if special is not None:
        np.minimum(magic, _LAST_EXPONENT, out=magic)
    np.add(magic, _TO_MAGIC, out=magic)
    np.bitwise_xor(bits, sign, out=out.view(np.uint32))  # the magnitude
    np.add(out, magic.view(np.float32), out=out)
    np.subtract(out, magic.view(np.float32), out=out)
    if special is not None:
        special.put(out)
    np.bitwise_or(out.view(np.uint32), sign, out=out.view(np.uint32))
    return special is not None and special.has_overflowed


class _Special:
    """The numbers that are too large, infinite or NaN; in saturation mode infinite and NaN ones count as overflows too."""

    def __init__(self, x: np.ndarray) -> None:
        self.is_nan, self.is_large = np.isnan(x), np.abs(x) >= _TOO_LARGE
        overflows = self.is_large | self.is_nan if float_status.saturates() else self.is_large & ~np.isinf(x)
        self.has_overflowed = bool(overflows.any())

    def put(self, magnitude: np.ndarray) -> None:
        magnitude[self.is_large] = float_status.LARGEST if float_status.saturates() else np.inf
        magnitude[self.is_nan] = np.nan


def to_bfloat16_grid(out: np.ndarray, x: np.ndarray) -> bool:
    """out = the bf16 numbers nearest to x, ties to even; returns whether a finite one became infinite.

    As to_float16_grid; bf16 has fp32's range, so only the last half step below 2^128 overflows, and nothing saturates.
    """
    bits = x.view(np.uint32)
    rounded = scratch("round magic", x.shape, np.uint32)
    np.right_shift(bits, np.uint32(16), out=rounded)
    np.bitwise_and(rounded, np.uint32(1), out=rounded)
    np.add(rounded, np.uint32(0x7FFF), out=rounded)
    np.add(rounded, bits, out=rounded)
    np.bitwise_and(rounded, np.uint32(0xFFFF0000), out=rounded)
    is_finite = np.isfinite(x)
    if not is_finite.all():
        np.copyto(rounded, bits, where=~is_finite)  # rounding bits could turn a NaN into an infinity
    np.copyto(out.view(np.uint32), rounded)
    return not bool(np.isfinite(out, where=is_finite, out=np.ones(out.shape, bool)).all())


_GRIDS: Mapping[str, Callable[[np.ndarray, np.ndarray], bool]] = {
    "float16": to_float16_grid,
    "bfloat16": to_bfloat16_grid,
}


def rounding_body(attrs: Mapping[str, Any]) -> Body:
    """The body of one tile, for element-wise regions; `source` names the node whose number was too large."""
    to_grid, source = _GRIDS[attrs["dtype"]], attrs["source"]

    def body(out: np.ndarray, x: np.ndarray) -> None:
        if to_grid(out, x):
            float_status.note_overflow(source)

    return body


@kernel(ROUND, unit="vector", shape=lambda x, **_: x.shape, inplace=(0,))
def round_to_grid(x: np.ndarray, /, *, dtype: str, source: str, out: np.ndarray | None = None) -> np.ndarray:
    """Numbers of a 16-bit type in fp32 storage.

    x: fp32.  dtype: "float16" or "bfloat16".  source: the node to name when a number is too large.  Returns: fp32, rounded to
    the nearest number of the type, ties to even.  Source: IEEE 754, as numpy's float16 and ml_dtypes' bfloat16 convert.
    """
    to_grid = _GRIDS[dtype]
    overflows: list[bool] = []  # of all threads: the status belongs to this one

    def body(tile: np.ndarray, given: np.ndarray) -> None:
        if to_grid(tile, given):
            overflows.append(True)

    made = run_tiled(body, np.empty(x.shape, np.float32) if out is None else out, x)
    if overflows:
        float_status.note_overflow(source)
    return made
