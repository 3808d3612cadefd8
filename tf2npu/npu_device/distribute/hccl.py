"""Gradients, variables and data of several workers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf
from npu_device.distribute import hccl_ops
from npu_device.distribute._averaging_optimizer import average_in
from npu_device.distribute.npu_callbacks import NPUBroadcastGlobalVariablesCallback
from npu_device.npu_device import global_npu_ctx

WORLD = "hccl_world_group"
"""The group of all workers."""


def _workers() -> int:
    """The number of workers that take part: 1 before a device is the default."""
    device = global_npu_ctx()
    return device.workers_num if device is not None and device.is_cluster_worker() else 1


def shard_and_rebatch_dataset(dataset: tf.data.Dataset, global_bs: int) -> tuple[tf.data.Dataset, int]:
    """This worker's part of a dataset, and of a batch; the script makes the batches, of the size returned.

    Raises: ValueError for a batch that cannot be divided equally.
    """
    device, n_workers = global_npu_ctx(), _workers()
    if device is None or n_workers <= 1:
        return dataset, global_bs
    if global_bs % n_workers:
        raise ValueError(f"Batch size must be divisible by num npus: {n_workers}")
    return dataset.shard(n_workers, device.worker_id), int(global_bs) // n_workers


def all_reduce(values: Any, reduction: str = "mean", fusion: int = 1, fusion_id: int = -1, group: str = WORLD) -> Any:
    """Combine a tensor, or each of a list, over the workers; None stays None, one worker gets its own values back.

    values: a tensor, IndexedSlices, a list or a tuple.  reduction: mean, or what HCCL has: sum, prod, max, min.
    Raises: ValueError for another reduction, TypeError for an element type that HCCL lacks.
    """
    n_workers = _workers()
    if n_workers <= 1:
        return values
    if isinstance(values, list | tuple):
        return [None if value is None else _all_reduce(value, reduction, fusion, fusion_id, group, n_workers) for value in values]
    return _all_reduce(values, reduction, fusion, fusion_id, group, n_workers)


def _all_reduce(value: Any, reduction: str, fusion: int, fusion_id: int, group: str, n_workers: int) -> tf.Tensor:
    """Rows of a table become a whole gradient first, as a device has them."""
    total = hccl_ops.allreduce(value, "sum" if reduction == "mean" else reduction, fusion, fusion_id, group)
    if reduction != "mean":
        return total
    if total.dtype.is_floating:
        return total * tf.cast(1.0 / n_workers, total.dtype)
    return tf.divide(total, tf.cast(n_workers, total.dtype))


def broadcast(values: Any, root_rank: int = 0, fusion: int = 2, fusion_id: int = 0, group: str = WORLD) -> None:
    """Assign the root's values to a variable, or to each of a list, on all workers; with one worker nothing happens."""
    if _workers() <= 1:
        return
    for variable in values if isinstance(values, list | tuple) else [values]:
        variable.assign(hccl_ops.broadcast([variable], root_rank, fusion, fusion_id, group)[0])


def npu_distributed_keras_optimizer_wrapper(
    optimizer: Any, reduce_reduction: str = "mean", fusion: int = 1, fusion_id: int = -1, group: str = WORLD
) -> Any:
    """Make a Keras optimizer of either kind, or of a name, average its gradients over the workers, in place."""
    optimizer = tf.keras.optimizers.get(optimizer)

    def average(gradients: Sequence[Any]) -> list[Any]:
        return all_reduce(list(gradients), reduce_reduction, fusion, fusion_id, group)

    average_in(optimizer, average)
    return optimizer


def npu_callbacks_append(callbacks_list: Any = ()) -> list[Any]:
    """The list with a callback at its end that broadcasts variables, changed in place; anything but a list is dropped."""
    callbacks = callbacks_list if isinstance(callbacks_list, list) else []
    callbacks.append(NPUBroadcastGlobalVariablesCallback(0))
    return callbacks
