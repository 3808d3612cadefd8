"""Children of a process that used a device: they cannot use one, as on a host with NPUs."""

from __future__ import annotations

import os
from typing import Any

from .memory import POOLS, Pool
from .tensor import BEHAVIOUR


class _State:
    is_child = False


def is_bad_fork() -> bool:
    """Whether this process was forked by one that had used a device."""
    return _State.is_child


def _refuse(*args: Any) -> Any:
    raise RuntimeError(
        "Cannot re-initialize NPU in forked subprocess. To use NPU with multiprocessing, you must use the 'spawn' start method"
    )


def _after_fork() -> None:
    if any(pool.allocations for pool in POOLS):
        _State.is_child = True
        BEHAVIOUR.run_operator = _refuse
        Pool.take = _refuse


def install() -> None:
    """Look at every child when it begins."""
    os.register_at_fork(after_in_child=_after_fork)
