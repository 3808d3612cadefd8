"""A check of a migrated script's accuracy: its process, and those of the original.

Only in processes that `tf2npu check` starts.
"""

from __future__ import annotations

import atexit
import json
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from npu_formats.environment import MINDSPORE, TF2NPU_CHECK, watched_adapter

OptionsOf = Callable[[Any], Mapping[str, Any]]
"""options_of(session): the options of the device that the script gives."""
_is_installed = False


def is_asked() -> bool:
    """Whether the process runs a script for a check that has sessions: a program for MindSpore writes its steps down itself."""
    return bool(os.environ.get(TF2NPU_CHECK)) and watched_adapter(os.environ) != MINDSPORE


def install() -> bool:
    """Take the training steps of every later session, where the process was started for that; False in all others."""
    global _is_installed
    if not is_asked() or _is_installed:
        return is_asked()
    from npu_bridge._check import draws_in_branches, gradient_roots, seeds, session_hooks

    seeds.install()
    gradient_roots.install()
    draws_in_branches.install(draws_in_branches.is_in_function)
    session_hooks.install(step_taker(_options_of))
    _is_installed = True
    return True


def _options_of(session: Any) -> Mapping[str, Any]:
    """The options that the script gives a session's device."""
    from npu_bridge import _options
    from npu_bridge._check.session_hooks import USERS_CONFIG
    from npu_bridge._session_hooks import parameters_of

    return {**_options.of_process, **(parameters_of(getattr(session, USERS_CONFIG, None)) or {})}


def step_taker(options_of: OptionsOf) -> Any:
    """The object that makes the steps of this process and writes down what it finds, when the process ends at the latest."""
    taker = _taker(json.loads(os.environ[TF2NPU_CHECK]), options_of)
    _close_at_end(taker, os.getpid())
    return taker


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


def _taker(request: dict[str, Any], options_of: OptionsOf) -> Any:
    from npu_bridge._check.original import RecordedSteps, RepeatedSteps
    from npu_bridge._check.stored_steps import StoredSteps

    steps = StoredSteps(Path(request["folder"]))
    if request["role"] == "original":
        return RecordedSteps(steps, request["steps"])
    if request["role"] == "again":
        return RepeatedSteps(steps, request["is_free"])
    from npu_bridge._check.migrated import MigratedSteps

    return MigratedSteps(steps, _settings(request), options_of)
