"""The one graph of a process, and the session that runs its parts on the simulated device."""

from __future__ import annotations

import atexit
from typing import Any

from npu_bridge.npu_init import npu_config_proto, tf

graph = tf.Graph()
_opened: list[Any] = []


def session() -> Any:
    """The session, which is opened by the first wish."""
    if not _opened:
        _opened.append(tf.Session(graph=graph, config=npu_config_proto()))
        atexit.register(_opened[0].close)
    return _opened[0]
