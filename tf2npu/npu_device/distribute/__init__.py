"""Training by several workers, under the vendor's path."""

from npu_device.distribute.hccl import (
    all_reduce,
    broadcast,
    npu_distributed_keras_optimizer_wrapper,
    shard_and_rebatch_dataset,
)
from npu_device.distribute.weight_update_grouping import grouping_broadcast, grouping_gradients_apply

__all__ = [
    "all_reduce", "broadcast", "grouping_broadcast", "grouping_gradients_apply", "npu_distributed_keras_optimizer_wrapper",
    "shard_and_rebatch_dataset",
]  # fmt: skip
