"""A check of a migrated script's accuracy: its process, and those of the original.

Only in processes that `tf2npu check` starts.
"""

from __future__ import annotations

import atexit
import json
import os
import time
from pathlib import Path
from typing import Any, NoReturn

from npu_formats.environment import TF2NPU_CHECK

_is_installed = False


def is_asked() -> bool:
    """Whether the process runs a script for a check."""
    return bool(os.environ.get(TF2NPU_CHECK))


def install() -> bool:
    """Take the training steps of every later session, where the process was started for that; False in all others."""
    global _is_installed
    if not is_asked() or _is_installed:
        return is_asked()
    from npu_bridge._check import draws_in_branches, gradient_roots, seeds, session_hooks

    request = json.loads(os.environ[TF2NPU_CHECK])
    seeds.install()
    gradient_roots.install()
    draws_in_branches.install()
    taker = _taker(request)
    session_hooks.install(taker)
    _close_at_end(taker, os.getpid())
    _is_installed = True
    return True


def _close_at_end(taker: Any, process: int) -> None:
    """Write down what was found when the process ends, also by os._exit; a process that it forks has nothing to write."""
    leave = os._exit

    def close() -> None:
        if os.getpid() == process:
            taker.close()

    def close_and_leave(status: int) -> NoReturn:
        try:
            close()
        finally:
            leave(status)

    atexit.register(close)
    os._exit = close_and_leave


def _settings(request: dict[str, Any]) -> Any:
    from npu_bridge._check.migrated import Settings

    deadline = time.monotonic() + request["seconds"]
    return Settings(tuple(request["modes"]), request["is_free"], request["is_whole"], deadline)


def _taker(request: dict[str, Any]) -> Any:
    from npu_bridge._check.original import RecordedSteps, RepeatedSteps
    from npu_bridge._check.stored_steps import StoredSteps

    steps = StoredSteps(Path(request["folder"]))
    if request["role"] == "original":
        return RecordedSteps(steps, request["steps"])
    if request["role"] == "again":
        return RepeatedSteps(steps, request["is_free"])
    from npu_bridge._check.migrated import MigratedSteps

    return MigratedSteps(steps, _settings(request))
