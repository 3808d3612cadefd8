"""Functions called when a process ends, also one that `multiprocessing` has started: those end without `atexit` handlers."""

from __future__ import annotations

import atexit
import multiprocessing
from collections.abc import Callable
from multiprocessing.util import Finalize


def at_process_end(function: Callable[[], None]) -> None:
    """Call a function once when this process ends, if nothing kills it."""
    if multiprocessing.parent_process() is None:
        atexit.register(function)
    else:
        Finalize(None, function, exitpriority=0)
