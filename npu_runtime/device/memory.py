"""High-bandwidth memory: arenas that programs place their values in."""

from __future__ import annotations

import math

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.errors import ResourceExhausted

_ALIGNMENT_BYTES = 64


class Arena:
    """One block of device memory for one run in flight.  Raises: ResourceExhausted when this machine has not so much."""

    def __init__(self, n_bytes: int) -> None:
        try:
            raw = np.empty(n_bytes + _ALIGNMENT_BYTES, np.uint8)
        except MemoryError:
            raise ResourceExhausted(
                f"this machine has no {n_bytes / 1e9:.2f} GB for the simulated device; use a smaller batch"
            ) from None
        start = -raw.ctypes.data % _ALIGNMENT_BYTES
        self._bytes = raw[start : start + n_bytes]

    def view(self, offset_bytes: int, shape: tuple[int, ...], dtype: str) -> np.ndarray:
        """The array of this shape and TensorFlow type at an offset."""
        made = dt.to_numpy(dtype)
        n_bytes = math.prod(shape) * made.itemsize
        return self._bytes[offset_bytes : offset_bytes + n_bytes].view(made).reshape(shape)
