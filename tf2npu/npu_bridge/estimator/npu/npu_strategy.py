"""A distribution strategy for one device in each process."""

from __future__ import annotations

from typing import Any

from hccl.manage.api import get_rank_id, get_rank_size
from npu_bridge.estimator.npu.util import get_ranksize
from tensorflow.python.distribute import distribute_lib, one_device_strategy

DEVICE = "/cpu:0"


class NPUExtended(one_device_strategy.OneDeviceExtended):
    """One device whose replicas are the ranks."""

    def __init__(self, container_strategy: Any, device: str) -> None:
        if device != DEVICE:
            raise ValueError(f"NPUStrategy works on {DEVICE}, got {device!r}")
        super().__init__(container_strategy, device)

    def _experimental_distribute_dataset(self, dataset: Any, *args: Any) -> Any:
        if get_rank_size() > 1:
            dataset = dataset.shard(get_rank_size(), get_rank_id())
        return super()._experimental_distribute_dataset(dataset, *args)

    @property
    def _num_replicas_in_sync(self) -> int:
        return int(get_ranksize())


class NPUStrategy(distribute_lib.StrategyV1):
    """Trains on the one device of this process; the replicas in sync are the ranks.  ValueError for another device."""

    def __init__(self, device: str = DEVICE) -> None:
        super().__init__(NPUExtended(self, device))


__all__ = ["NPUExtended", "NPUStrategy"]
