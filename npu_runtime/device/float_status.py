"""The overflow mode of fp16, and the status that remembers an overflow.

A chip works in one of two modes. In infinity mode, which is TensorFlow's way, a result that is too large is an infinity. In
saturation mode it is the largest fp16 number, and the float status tells that it happened: loss scaling reads that, because no
gradient shows it. Each session chooses for its runs; a step has a status of its own, whichever threads work on it.
"""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass

import numpy as np

LARGEST = np.float16(65504.0)
N_STATUS_WORDS = 8
"""Elements of the status tensor.  Source: NPUAllocFloatStatus of the vendor's op definitions."""

asked: bool | None = None
"""Whether this process asked for saturation mode (True) or infinity mode (False); None leaves it to each session."""

overflows: Counter[str] = Counter()
"""Nodes whose results were too large for fp16, in the order of their first time, and how often; of the whole process."""


@dataclass
class Status:
    """The float status of one step.  saturates: its mode.  has_overflowed: whether a result had to be cut."""

    saturates: bool = False
    has_overflowed: bool = False


class _Thread(threading.local):
    def __init__(self) -> None:
        self.status = Status()


_thread = _Thread()
_counting = threading.Lock()


def ask(saturates: bool | None) -> None:
    """Choose the mode of every session of the process, or take the choice back."""
    global asked
    asked = saturates


def begin(saturates: bool) -> None:
    """A step in one of the modes begins on this thread, with a clear status."""
    _thread.status = Status(saturates)


def current() -> Status:
    """The status of the step that this thread works on."""
    return _thread.status


def adopt(status: Status) -> None:
    """Let this thread work on the step of another one from now on."""
    _thread.status = status


def clear() -> None:
    """Forget overflows of this thread's step."""
    _thread.status.has_overflowed = False


def has_overflowed() -> bool:
    """Whether a result of this thread's step had to be cut."""
    return _thread.status.has_overflowed


def saturates() -> bool:
    """Whether this thread's step is in saturation mode."""
    return _thread.status.saturates


def note_overflow(node: str) -> None:
    """A result of `node` was too large: counted for the run log and, in saturation mode, in the status of the step."""
    with _counting:
        overflows[node] += 1
    if _thread.status.saturates:
        _thread.status.has_overflowed = True


def saturated(value: object, node: str) -> object:
    """The value as the chip stores it in saturation mode: fp16 infinities become the largest number; they and NaN are noted."""
    if type(value) is not np.ndarray or value.dtype != np.float16 or np.isfinite(value).all():
        return value
    note_overflow(node)
    return np.where(np.isinf(value), np.copysign(LARGEST, value), value)
