"""The one graph of a process, and the session that runs its parts on the simulated device."""

from __future__ import annotations

import atexit
from typing import Any

from npu_bridge.estimator.npu.npu_plugin import set_device_sat_mode
from npu_bridge.npu_init import npu_config_proto, tf

from npu_runtime.config import chip_of, load_config
from npu_runtime.device import float_status

graph = tf.Graph()
_opened: list[Any] = []


def session() -> Any:
    """The session, which is opened by the first wish.

    Results that are too large for float16 show as on the chip, whose float status MindSpore's loss scaling reads.
    """
    if not _opened:
        _opened.append(tf.Session(graph=graph, config=npu_config_proto()))
        atexit.register(_opened[0].close)
        if float_status.asked is None and chip_of(load_config({}).soc).saturates:
            set_device_sat_mode(0)
    return _opened[0]
