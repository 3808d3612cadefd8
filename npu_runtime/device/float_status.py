"""What the device does when an fp16 result is too large, and the status that remembers it.

A chip works in one of two modes. In infinity mode, which is TensorFlow's way and the one we start in, a result that is too
large is an infinity. In saturation mode it is the largest fp16 number, and the float status tells that it happened: loss
scaling reads that, because no gradient shows it.
"""

from __future__ import annotations

import threading
from collections import Counter

import numpy as np

LARGEST = np.float16(65504.0)
N_STATUS_WORDS = 8

is_saturating = False
"""Whether this process asked for saturation mode; read once for every kernel launch."""

overflows: Counter[str] = Counter()
"""Nodes whose results were too large for fp16, in the order of their first time, and how often; of the whole process."""

_here = threading.local()
_counting = threading.Lock()


def set_saturating(mode: bool) -> None:
    """Choose the mode of all devices of the process."""
    global is_saturating
    is_saturating = mode


def clear() -> None:
    """Forget overflows of this thread's step."""
    _here.has_overflowed = False


def has_overflowed() -> bool:
    """Whether a result of this thread's step had to be cut."""
    return getattr(_here, "has_overflowed", False)


def note_overflow(node: str) -> None:
    """A result of `node` was too large: counted for the run log and, in saturation mode, in this thread's status."""
    with _counting:
        overflows[node] += 1
    _here.has_overflowed = has_overflowed() or is_saturating


def saturated(value: object, node: str) -> object:
    """The value as the chip stores it in saturation mode: fp16 infinities become the largest number; they and NaN are noted."""
    if type(value) is not np.ndarray or value.dtype != np.float16 or np.isfinite(value).all():
        return value
    note_overflow(node)
    return np.where(np.isinf(value), np.copysign(LARGEST, value), value)
