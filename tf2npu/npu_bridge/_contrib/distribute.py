"""``tf.contrib.distribute``: the strategies of ``tf.distribute`` under the signatures of TF 1.15."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tensorflow.distribute import ReplicaContext, get_replica_context, get_strategy, has_strategy, in_cross_replica_context
from tensorflow.python.distribute.cross_device_ops import AllReduceCrossDeviceOps, CrossDeviceOps
from tensorflow.python.distribute.distribute_lib import UpdateContext, get_cross_replica_context, require_replica_context

__all__ = [
    "AllReduceCrossDeviceOps", "CrossDeviceOps", "DistributionStrategy", "MirroredStrategy", "OneDeviceStrategy",
    "ReplicaContext", "UpdateContext", "get_cross_replica_context", "get_distribution_strategy", "get_replica_context",
    "get_strategy", "has_distribution_strategy", "has_strategy", "in_cross_replica_context", "require_replica_context",
]  # fmt: skip
DistributionStrategy = tf.distribute.Strategy
OneDeviceStrategy = tf.distribute.OneDeviceStrategy
get_distribution_strategy = get_strategy
has_distribution_strategy = has_strategy


class MirroredStrategy(tf.distribute.MirroredStrategy):
    """A copy of the variables on each device; num_gpus and num_gpus_per_worker are how many GPUs there would be."""

    def __init__(
        self,
        devices: Any = None,
        num_gpus: int | None = None,
        num_gpus_per_worker: int | None = None,
        cross_device_ops: Any = None,
        auto_shard_dataset: bool = False,
        cross_tower_ops: Any = None,
    ) -> None:
        if num_gpus is not None and num_gpus_per_worker is not None:
            raise ValueError("You cannot specify both `num_gpus` and `num_gpus_per_worker`.")
        n_gpus = num_gpus if num_gpus is not None else num_gpus_per_worker
        if devices is None and n_gpus is not None:
            devices = [f"/device:GPU:{i}" for i in range(n_gpus)]
        super().__init__(devices=devices, cross_device_ops=cross_device_ops or cross_tower_ops)
