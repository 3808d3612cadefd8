"""Processes that a script starts to compute for it, so that one which only starts others is not told that it computes nothing."""

from __future__ import annotations

import sys
from multiprocessing.process import BaseProcess
from typing import Any

_LAUNCHER = "torch.distributed.elastic.agent.server.local_elastic_agent"
"""The module of PyTorch that starts ranks for torchrun, which nothing else imports."""
_LOADER = "torch.utils.data._utils.worker"
"""The module of what loaders of data start, which use no device."""

_start = BaseProcess.start
_started: list[str] = []


def has_started_others() -> bool:
    """Whether this process has started some that may use the device in its place."""
    return bool(_started) or _LAUNCHER in sys.modules


def start(self: Any) -> None:
    """`multiprocessing.Process.start`, of any kind of process."""
    module = getattr(self._target, "__module__", "")
    if module != _LOADER:
        _started.append(str(module))
    _start(self)


def install() -> None:
    """Note each process from here on."""
    BaseProcess.start = start
