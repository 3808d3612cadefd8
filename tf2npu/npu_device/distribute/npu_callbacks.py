"""A Keras callback that gives all workers the variables of one."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


class NPUBroadcastGlobalVariablesCallback(tf.keras.callbacks.Callback):
    """Broadcasts the model's variables from one worker to all before the first batch.  root_rank: that worker."""

    def __init__(self, root_rank: int) -> None:
        super().__init__()
        self.root_rank, self.broadcast_done = root_rank, False

    def on_batch_begin(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """Called by Keras before each batch."""
        if not self.broadcast_done:
            from npu_device.distribute.hccl import broadcast  # which appends this callback

            broadcast(self.model.trainable_variables, self.root_rank)
            self.broadcast_done = True
