"""Calls of TensorFlow's eager context by the runtime itself, which nobody has to watch."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_thread = threading.local()


def is_unwatched() -> bool:
    """Whether this thread runs an eager operation for the runtime."""
    return bool(getattr(_thread, "is_unwatched", False))


@contextmanager
def unwatched(is_on: bool = True) -> Iterator[None]:
    """Eager operations of this thread are the runtime's own.  is_on: False gives them back to the script, within a call of it."""
    before = is_unwatched()
    _thread.is_unwatched = is_on
    try:
        yield
    finally:
        _thread.is_unwatched = before
