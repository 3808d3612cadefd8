"""A smoke run of a script: for some training steps, on made-up data where what it reads is missing.

Only in processes that `tf2npu run --smoke` starts.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from npu_formats.environment import TF2NPU_SMOKE

if TYPE_CHECKING:
    from npu_bridge._smoke.watched_run import WatchedRun

_run: list[WatchedRun] = []


def is_asked() -> bool:
    """Whether the process makes a smoke run."""
    return bool(os.environ.get(TF2NPU_SMOKE))


def install() -> None:
    """Make files up from now on, and watch how the script trains; nothing in processes that make no smoke run."""
    if is_asked() and not _run:
        from npu_bridge._smoke.watched_run import WatchedRun

        _run.append(WatchedRun())


def prepared(graph: Any, feeds: Sequence[Any]) -> Sequence[Any]:
    """The values that are fed to a run of a tf.Graph, of which all files that it reads are there from now on."""
    return _run[0].prepared(graph, feeds) if _run else feeds


def note_failure(error: Exception) -> None:
    """Note an error of a run, which the script may catch."""
    if _run:
        _run[0].note_failure(error)


def told() -> dict[str, Any]:
    """The entry of the report's document on this process."""
    return {"smoke": _run[0].document()} if _run else {}
