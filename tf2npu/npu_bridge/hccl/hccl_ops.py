"""Collective operations as graph operations.

With one rank each is an identity with the right container type, which any TensorFlow can run; with several it is a node that only
the device can run (`_several_ranks`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf
from hccl._groups import WORLD, group_size, members, world_rank
from npu_bridge._unsupported import refused
from npu_bridge.hccl import _several_ranks

from npu_runtime.importers.tensorflow.device_calls import mark

REDUCTIONS = ("min", "max", "prod", "sum")
DTYPES = (tf.int8, tf.int16, tf.int32, tf.int64, tf.float16, tf.float32, tf.bfloat16)
_CAST = (
    "; cast what the model reads to float32, with tf.cast(features, tf.float32) or array.astype(np.float32), and make its "
    "variables float32"
)
"""The way out of float64, which mostly comes from numpy: uint8 / 255.0 is float64."""
_MAX_FUSION_ID = 0x7FFFFFFF
"""The largest fusion_id: a signed number of 32 bits."""


def _check_fusion(fusion: int, fusion_id: int, allowed: Sequence[int]) -> None:
    if fusion not in allowed:
        raise ValueError(f"fusion must be one of {', '.join(map(str, allowed))}, got {fusion}")
    if fusion == 2 and not 0 <= fusion_id <= _MAX_FUSION_ID:
        raise ValueError(f"fusion 2 needs a fusion_id between 0 and {_MAX_FUSION_ID}, got {fusion_id}")


def _check_reduction(reduction: str) -> None:
    if reduction not in REDUCTIONS:
        raise ValueError(f"reduction must be one of {', '.join(REDUCTIONS)}, got {reduction!r}")


def _check_dtype(dtype: tf.DType) -> None:
    """Raise: TypeError where HCCL has no such type, with the way out of float64."""
    if dtype.base_dtype not in DTYPES:
        names = ", ".join(known.name for known in DTYPES)
        way_out = _CAST if dtype.base_dtype == tf.float64 else ""
        raise TypeError(f"dtype {dtype.name} is not one of {names}{way_out}")


def _checked(npu_op: str, tensor: Any) -> tf.Tensor:
    value = tf.convert_to_tensor(tensor)
    try:
        _check_dtype(value.dtype)
    except TypeError as error:
        raise TypeError(f"{npu_op} of {value.name}: {error}") from None
    return value


def _has_others(group: str) -> bool:
    return group_size(group) > 1


def _collective(npu_op: str, value: tf.Tensor, group: str, shape: Any = None, **attributes: int | str) -> tf.Tensor:
    """shape: of the result, where it is not that of `value`."""
    return _exchange(npu_op, [value], group, value.shape if shape is None else shape, lambda: value, **attributes)


def _exchange(
    npu_op: str, values: Sequence[tf.Tensor], group: str, shape: Any, alone: Callable[[], tf.Tensor], **attributes: int | str
) -> tf.Tensor:
    """values: what the rank brings.  shape: of the result.  alone: makes the result where there is no other rank."""
    if _has_others(group):
        return _several_ranks.collective(npu_op, values, shape, members(group), group=group, **attributes)
    result = tf.identity(alone(), name=npu_op)
    mark(result.op, npu_op, group=group, **attributes)
    return result


def allreduce(tensor: Any, reduction: str, fusion: int = 1, fusion_id: int = -1, group: str = WORLD) -> tf.Tensor:
    """Combine ``tensor`` over the ranks of ``group``; same shape.  A list is stacked first.  Its gradient is an allreduce sum.

    reduction: 'min', 'max', 'prod' or 'sum'.  Raises: ValueError for another reduction, TypeError for an unsupported dtype.
    """
    _check_reduction(reduction)
    _check_fusion(fusion, fusion_id, (0, 1, 2))
    value = _checked("HcomAllReduce", tensor)
    return _collective("HcomAllReduce", value, group, reduction=reduction, fusion=fusion, fusion_id=fusion_id)


def allgather(tensor: Any, rank_size: int, group: str = WORLD, fusion: int = 0, fusion_id: int = -1) -> tf.Tensor:
    """Join ``tensor`` of every rank along the first axis; the first dimension grows by ``rank_size``."""
    _check_fusion(fusion, fusion_id, (0, 2))
    _check_rank_size(rank_size, group)
    value = _checked("HcomAllGather", tensor)
    return _collective("HcomAllGather", value, group, _rows(value, lambda n: n * rank_size), rank_size=rank_size)


def _rows(value: tf.Tensor, change: Callable[[int], int]) -> tf.TensorShape:
    """The shape of a tensor with another first dimension."""
    if value.shape.rank is None:
        return value.shape
    first, *rest = value.shape.as_list()
    return tf.TensorShape([None if first is None else change(first), *rest])


def _check_rank_size(rank_size: int, group: str) -> None:
    if rank_size != group_size(group):
        raise ValueError(f"rank_size is {rank_size}, but the group {group!r} has {group_size(group)} ranks")


def broadcast(tensor: Sequence[Any], root_rank: int, fusion: int = 2, fusion_id: int = 0, group: str = WORLD) -> list[tf.Tensor]:
    """Give every rank the root's values: a list of tensors in, a list of tensors out."""
    _check_fusion(fusion, fusion_id, (0, 2))
    if not isinstance(tensor, list | tuple):
        raise TypeError(f"broadcast takes a list of tensors, got {type(tensor).__name__}")
    _check_peer("root_rank", root_rank, group)
    return [_collective("HcomBroadcast", tf.convert_to_tensor(value), group, root_rank=root_rank) for value in tensor]


def reduce(tensor: Any, reduction: str, root_rank: int, fusion: int = 0, fusion_id: int = -1, group: str = WORLD) -> tf.Tensor:
    """Combine ``tensor`` over the ranks; the result is on the root."""
    _check_reduction(reduction)
    _check_fusion(fusion, fusion_id, (0, 2))
    _check_peer("root_rank", root_rank, group)
    return _collective("HcomReduce", _checked("HcomReduce", tensor), group, reduction=reduction, root_rank=root_rank)


def reduce_scatter(
    tensor: Any, reduction: str, rank_size: int, group: str = WORLD, fusion: int = 0, fusion_id: int = -1
) -> tf.Tensor:
    """Combine ``tensor`` over the ranks and give each an equal part of its first axis."""
    _check_reduction(reduction)
    _check_fusion(fusion, fusion_id, (0, 2))
    _check_rank_size(rank_size, group)
    value = _checked("HcomReduceScatter", tensor)
    shape = _rows(value, lambda n: n // rank_size)
    return _collective("HcomReduceScatter", value, group, shape, reduction=reduction, rank_size=rank_size)


def _mailbox(group: str, sr_tag: int, dtype: tf.DType) -> tf.FIFOQueue:
    return tf.FIFOQueue(64, [dtype], shared_name=f"npu_send_{group}_{sr_tag}_{dtype.name}")


def send(tensor: Any, sr_tag: int, dest_rank: int, group: str = WORLD) -> tf.Operation:
    """Send ``tensor`` under a tag to a rank of the group; with one rank that is oneself."""
    _check_peer("dest_rank", dest_rank, group)
    value = tf.convert_to_tensor(tensor)
    if _has_others(group):
        pair = [world_rank(), members(group)[dest_rank]]
        return _several_ranks.collective("HcomSend", [value], value.shape, pair, sr_tag=sr_tag, group=group).op
    operation = _mailbox(group, sr_tag, value.dtype.base_dtype).enqueue([value], name="HcomSend")
    return mark(operation, "HcomSend", sr_tag=sr_tag, group=group)


def receive(shape: Sequence[int], data_type: tf.DType, sr_tag: int, src_rank: int, group: str = WORLD) -> tf.Tensor:
    """Wait for the tensor that was sent under the tag."""
    _check_peer("src_rank", src_rank, group)
    if _has_others(group):
        pair = [members(group)[src_rank], world_rank()]
        like = tf.zeros(shape, data_type)
        return _several_ranks.collective("HcomReceive", [like], like.shape, pair, sr_tag=sr_tag, group=group)
    value = _mailbox(group, sr_tag, tf.as_dtype(data_type)).dequeue(name="HcomReceive")
    value.set_shape(shape)
    return value


def _check_peer(name: str, rank: int, group: str) -> None:
    if not 0 <= rank < group_size(group):
        raise ValueError(f"{name} is {rank}, but the ranks of the group {group!r} are 0 to {group_size(group) - 1}")


def all_to_all_v(
    send_data: Any, send_counts: Any, send_displacements: Any, recv_counts: Any, recv_displacements: Any, group: str = WORLD
) -> tf.Tensor:
    """Exchange parts of different length between all ranks; on one rank, one's own part.

    send_data: [n].  counts and displacements: int64 [rank size], in elements.  Returns: [sum of what was received].
    """
    places = [tf.cast(v, tf.int64) for v in (send_counts, send_displacements, recv_counts, recv_displacements)]
    data = tf.convert_to_tensor(send_data)

    def own() -> tf.Tensor:
        (count, start), at = (tf.cast(v, tf.int32)[0] for v in places[:2]), tf.cast(places[3], tf.int32)[0]
        return tf.pad(data[start : start + count], [[at, 0]])

    return _exchange("HcomAllToAllV", [data, *places], group, [None], own)


def all_to_all_v_c(
    send_data: Any, send_count_matrix: Any, rank: int, fusion: int = 0, fusion_id: int = -1, group: str = WORLD
) -> tf.Tensor:
    """As ``all_to_all_v`` with the counts of all pairs as a square matrix, parts following each other."""
    _check_fusion(fusion, fusion_id, (0, 2))
    data, counts = tf.convert_to_tensor(send_data), tf.cast(send_count_matrix, tf.int64)

    def own() -> tf.Tensor:
        return data[: tf.cast(tf.reshape(counts, [-1]), tf.int32)[0]]

    return _exchange("HcomAllToAllVC", [data, counts], group, [None], own)


_REMOTE = "remote memory access between hosts is not simulated"
gather_all_to_all_v = refused(
    "hccl_ops.gather_all_to_all_v",
    f"addrinfo addrinfo_count_per_rank recv_counts recv_displacements dtype addr_length group='{WORLD}'",
    "it reads raw device addresses, which the simulated device does not have",
)
remote_read = refused("hccl_ops.remote_read", "tensorRemote data_type", _REMOTE)
remote_ref_read = refused("hccl_ops.remote_ref_read", "tensorRemote cache offset", _REMOTE)
remote_write = refused("hccl_ops.remote_write", "tensorRemote tensorLocal data_type", _REMOTE)
remote_scatter_write = refused("hccl_ops.remote_scatter_write", "tensorRemote tensorLocal offset", _REMOTE)
