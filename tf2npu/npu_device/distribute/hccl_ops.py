"""Collective operations of several workers: nodes of the device in functions, calls at once outside of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from hccl._groups import members
from npu_device import _device_nodes
from tensorflow.python.framework import ops

from npu_formats.environment import TF2NPU_COLLECTIVES
from npu_runtime.errors import DeviceError
from npu_runtime.kernels.control import collective

REDUCTIONS = ("min", "max", "prod", "sum")
DTYPES = (tf.int8, tf.int16, tf.int32, tf.int64, tf.float16, tf.float32, tf.bfloat16)
_GRADIENT, _NO_GRADIENT = "NpuDeviceHcomAllReduce", "NpuDeviceHcomNone"
_ON_TENSORFLOW = "collective operations of several ranks run on the device only, and this function runs on TensorFlow"


def allreduce(tensor: Any, reduction: str, fusion: int = 1, fusion_id: int = -1, group: str = "hccl_world_group") -> tf.Tensor:
    """Combine a tensor over the ranks of a group.  Its gradient is an allreduce sum.

    Raises: ValueError for another reduction, TypeError for an element type that HCCL lacks.
    """
    if reduction not in REDUCTIONS:
        raise ValueError(f"reduction must be one of {', '.join(REDUCTIONS)}, got {reduction!r}")
    value = _checked("HcomAllReduce", tensor)
    if not tf.executing_eagerly():
        attributes = {"reduction": reduction, "fusion": fusion, "fusion_id": fusion_id}
        return _node("HcomAllReduce", value, group, (_GRADIENT, _summed(group)), **attributes)

    @tf.custom_gradient
    def reduced(x: tf.Tensor) -> tuple[tf.Tensor, Callable[..., tf.Tensor]]:
        return _now(collective.all_reduce, x, group, reduction=reduction), lambda dy: _summed(group)([x], dy)[0]

    return reduced(value)


def broadcast(
    tensor: Sequence[Any], root_rank: int, fusion: int = 2, fusion_id: int = 0, group: str = "hccl_world_group"
) -> list[tf.Tensor]:
    """Give every rank the root's tensors, a list of them.  Raises: ValueError for a root that is not in the group."""
    if root_rank not in range(len(members(group))):
        raise ValueError(f"root_rank is {root_rank}, but the ranks of the group {group!r} are 0 to {len(members(group)) - 1}")
    values = [tf.convert_to_tensor(value) for value in tensor]
    if tf.executing_eagerly():
        return [_now(collective.broadcast, value, group, root_rank=root_rank) for value in values]
    attributes = {"root_rank": root_rank, "fusion": fusion, "fusion_id": fusion_id}
    return [_node("HcomBroadcast", value, group, (_NO_GRADIENT, _refused_gradient), **attributes) for value in values]


def _checked(npu_op: str, tensor: Any) -> tf.Tensor:
    value = tf.convert_to_tensor(tensor)
    if value.dtype.base_dtype not in DTYPES:
        names = ", ".join(known.name for known in DTYPES)
        of = "" if tf.executing_eagerly() else f" of {value.name}"
        way_out = "; cast it to float32" if value.dtype == tf.float64 else ""
        raise TypeError(f"{npu_op}{of}: dtype {value.dtype.name} is not one of {names}{way_out}")
    return value


def _ranks(npu_op: str, group: str) -> str:
    """The ranks of a group as the kernels have them.  Raises: RuntimeError where this process was not started with others."""
    if not os.environ.get(TF2NPU_COLLECTIVES):
        size = os.environ.get("RANK_SIZE")
        raise RuntimeError(
            f"{npu_op}: RANK_SIZE={size}, but nobody has started the other ranks: "
            f"`tf2npu run --devices {size} SCRIPT` starts them all"
        )
    return ",".join(map(str, members(group)))


def _node(
    npu_op: str, value: tf.Tensor, group: str, gradient: tuple[str, _device_nodes.Gradient], **attributes: int | str
) -> tf.Tensor:
    return _device_nodes.add(npu_op, _refused, [value], gradient, ranks=_ranks(npu_op, group), group=group, **attributes)


def _refused(value: tf.Tensor) -> tf.Tensor:
    """The body for TensorFlow: an assertion that fails, because the value itself would be a silently wrong result."""
    with tf.control_dependencies([tf.debugging.Assert(tf.constant(False), [_ON_TENSORFLOW])]):
        return tf.raw_ops.PlaceholderWithDefault(input=value, shape=None)


def _now(kernel: Callable[..., np.ndarray], value: tf.Tensor, group: str, **attributes: Any) -> tf.Tensor:
    """The result of a kernel for an eager tensor.  Raises: tf.errors.FailedPreconditionError where the ranks do not agree."""
    ranks = _ranks(kernel.__name__, group)
    try:
        return tf.constant(kernel(value.numpy(), ranks=ranks, state={}, **attributes), value.dtype)
    except DeviceError as error:
        raise tf.errors.FailedPreconditionError(None, None, error.message) from None


def _summed(group: str) -> _device_nodes.Gradient:
    """The gradient of a sum: a sum, too, as every rank's input is part of every result.  Source: that of the adapter."""
    return lambda _, dy: [allreduce(dy, "sum", 0, -1, group)]


def _refused_gradient(*_: Any) -> list[tf.Tensor]:
    raise LookupError("HcomBroadcast over several ranks has no gradient, as on a host")


@ops.RegisterGradient(_GRADIENT)
def _gradient_in_graph(node: tf.Operation, dy: tf.Tensor) -> list[tf.Tensor]:
    return list(_summed(node.get_attr("group").decode())([], dy))


_device_nodes.register(_NO_GRADIENT, _refused_gradient)
