"""High-bandwidth memory: arenas that programs place their values in."""

from __future__ import annotations

import math

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.errors import ResourceExhausted

_ALIGNMENT_BYTES = 64


class Arena:
    """One block of device memory for one run in flight.  Raises: ResourceExhausted when it is larger than the chip's."""

    def __init__(self, n_bytes: int, hbm_bytes: int) -> None:
        if n_bytes > hbm_bytes:
            raise ResourceExhausted(
                f"a step needs {n_bytes / 1e9:.2f} GB of device memory, the chip has {hbm_bytes / 1e9:.2f} GB; "
                "use a smaller batch"
            )
        raw = np.empty(n_bytes + _ALIGNMENT_BYTES, np.uint8)
        start = -raw.ctypes.data % _ALIGNMENT_BYTES
        self._bytes = raw[start : start + n_bytes]

    def view(self, offset_bytes: int, shape: tuple[int, ...], dtype: str) -> np.ndarray:
        """The array of this shape and TensorFlow type at an offset."""
        made = dt.to_numpy(dtype)
        n_bytes = math.prod(shape) * made.itemsize
        return self._bytes[offset_bytes : offset_bytes + n_bytes].view(made).reshape(shape)
