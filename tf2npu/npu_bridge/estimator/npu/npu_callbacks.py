"""Keras callbacks."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from npu_bridge.estimator.npu import util
from npu_bridge.hccl import hccl_ops


def broadcast_global_variables(root_rank: int) -> tf.Operation:
    """An operation that gives every global variable the root's value."""
    return tf.group(*[tf.assign(variable, hccl_ops.broadcast([variable], root_rank)[0]) for variable in tf.global_variables()])


class BroadcastGlobalVariablesCallbackImpl:
    """Broadcasts once, before the first batch, when there are several ranks."""

    def __init__(self, root_rank: int, *args: Any) -> None:
        super().__init__(*args)
        self.root_rank = root_rank
        self.broadcast_done = False

    def on_batch_begin(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """Broadcast before the first batch."""
        if self.broadcast_done:
            return
        if int(util.get_ranksize()) > 1:
            tf.keras.backend.get_session().run(broadcast_global_variables(self.root_rank))
        self.broadcast_done = True


class NPUBroadcastGlobalVariablesCallback(BroadcastGlobalVariablesCallbackImpl, tf.keras.callbacks.Callback):
    """Keras callback that gives every rank the root's variables before the first batch."""

    def __init__(self, root_rank: int) -> None:
        super().__init__(root_rank)
