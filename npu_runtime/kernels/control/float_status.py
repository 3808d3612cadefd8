"""The device's float status: made, read and cleared by operations of the adapter, which TensorFlow does not have."""

from __future__ import annotations

from typing import Any

import numpy as np

from npu_runtime.device import float_status
from npu_runtime.device.float_status import N_STATUS_WORDS
from npu_runtime.graph.spec import Spec
from npu_runtime.kernels.base import kernel


def _status_shape(*_: Spec, **__: Any) -> tuple[int, ...]:
    return (N_STATUS_WORDS,)


@kernel("_NpuAllocFloatStatus", unit="scalar", shape=_status_shape)
def allocate(*_: np.ndarray, state: dict[str, Any]) -> np.ndarray:
    """A clear status: eight fp32 zeros.  Source: the adapter's op NpuAllocFloatStatus."""
    return np.zeros(N_STATUS_WORDS, np.float32)


@kernel("_NpuGetFloatStatus", unit="scalar", shape=_status_shape)
def read(status: np.ndarray, /, *, state: dict[str, Any]) -> np.ndarray:
    """The status with a one in front when a result of this step was cut.  Source: the adapter's op NpuGetFloatStatus."""
    found = np.array(status, np.float32)
    found[0] = max(found[0], float(float_status.has_overflowed()))
    return found


@kernel("_NpuClearFloatStatus", unit="scalar", shape=_status_shape)
def clear(status: np.ndarray, /, *, state: dict[str, Any]) -> np.ndarray:
    """Zeros, and nothing is remembered of this step so far.  Source: the adapter's op NpuClearFloatStatus."""
    float_status.clear()
    return np.zeros(N_STATUS_WORDS, np.float32)
