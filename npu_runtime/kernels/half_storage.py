"""16-bit floats are stored narrow and computed in fp32, with one rounding at the end, as the cube unit and Eigen do."""

from __future__ import annotations

import numpy as np

from npu_runtime import dtypes as dt

NARROW = frozenset({dt.to_numpy("float16"), dt.to_numpy("bfloat16")})


def compute_dtype(dtype: np.dtype) -> np.dtype:
    """The type that sums are formed in."""
    return np.dtype(np.float32) if dtype in NARROW else dtype


def widen(x: np.ndarray) -> np.ndarray:
    """fp32 values of a 16-bit array; anything else as it is."""
    return x.astype(np.float32) if x.dtype in NARROW else x


def wide_buffer(shape: tuple[int, ...], dtype: np.dtype, out: np.ndarray | None) -> np.ndarray:
    """The array in which to compute a result of `dtype`: `out` itself when it is wide enough and contiguous, else a new one."""
    if out is not None and dtype not in NARROW and out.flags.c_contiguous:
        return out
    return np.empty(shape, compute_dtype(dtype))


def store(result: np.ndarray, dtype: np.dtype, out: np.ndarray | None) -> np.ndarray:
    """The result as `dtype`, rounded once, in `out` if there is one."""
    if out is None:
        return result.astype(dtype, copy=False)
    if result is not out:
        np.copyto(out, result, casting="unsafe")
    return out
