"""The shim's log: standard error only, because scripts' standard output is often parsed."""

from __future__ import annotations

import logging
import os
import sys

from npu_formats.environment import TF2NPU_LOG


class _StandardError(logging.StreamHandler):
    """Writes to whatever ``sys.stderr`` is at the time."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)

    @property
    def stream(self) -> object:
        return sys.stderr


log = logging.getLogger("npu_bridge")
if not log.handlers:
    _handler = _StandardError()
    _handler.setFormatter(logging.Formatter("npu_bridge: %(message)s"))
    log.addHandler(_handler)
    log.propagate = False
    log.setLevel(logging.DEBUG if os.environ.get(TF2NPU_LOG) == "debug" else logging.WARNING)

_said: set[str] = set()


def once(message: str, key: str = "") -> None:
    """Warn, the first time only that the process has this to say; ``key``: what counts as the same."""
    if (key or message) not in _said:
        _said.add(key or message)
        log.warning(message)


def recorded(call: str, effect: str = "") -> None:
    """Say that a call is accepted and kept, but changes nothing on the simulated device."""
    once(f"{call} is accepted and recorded; the simulated device does not act on it{': ' + effect if effect else ''}")
