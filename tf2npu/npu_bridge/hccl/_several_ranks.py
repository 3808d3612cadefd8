"""Collective operations over several ranks: nodes whose meaning only the device knows."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import tensorflow as tf
from npu_bridge._unsupported import refuse

from npu_formats.environment import TF2NPU_COLLECTIVES
from npu_runtime.importers.tensorflow import device_calls

_GRADIENT = "NpuHcomNone"
_SUMMED = "NpuHcomAllReduce"


def collective(npu_op: str, inputs: Sequence[tf.Tensor], shape: Any, ranks: Sequence[int], **attributes: int | str) -> tf.Tensor:
    """Add a node.  shape: of its result, as far as it is known.  ranks: world ranks that take part, in the group's order.

    Raises: UnsupportedOnSimulator where this process was not started as one of several ranks.
    """
    if not os.environ.get(TF2NPU_COLLECTIVES):
        started = f"RANK_SIZE={os.environ.get('RANK_SIZE')}, but nobody has started the other ranks"
        refuse(npu_op, f"{started}: `tf2npu run --devices {max(ranks) + 1} SCRIPT` starts them all")
    gradient = _SUMMED if npu_op == "HcomAllReduce" else _GRADIENT
    result = device_calls.call(npu_op, _only_on_device, list(inputs), gradient=gradient)[0]
    device_calls.mark(result.op, npu_op, ranks=",".join(map(str, ranks)), **attributes)
    result.set_shape(shape)
    return result


def _only_on_device(first: tf.Tensor, *_: tf.Tensor) -> tf.Tensor:
    """Adds what TensorFlow itself runs for the node: an assertion that fails: the identity would be a silently wrong result."""
    why = "collective operations of several ranks run on the device only: in sessions with the NpuOptimizer, and not in float64"
    with tf.control_dependencies([tf.debugging.Assert(tf.constant(False), [why])]):
        return tf.placeholder_with_default(first, None)  # no shape: some results have another than `first`


@tf.RegisterGradient(_SUMMED)
def _all_reduce_gradient(op: tf.Operation, gradient: tf.Tensor) -> tf.Tensor:
    """Every rank's input is part of every rank's result.  Source: the adapter's gradient of HcomAllReduce."""
    from npu_bridge.hccl import hccl_ops

    return hccl_ops.allreduce(gradient, "sum", fusion=0, group=op.get_attr("group").decode())


@tf.RegisterGradient(_GRADIENT)
def _no_gradient(op: tf.Operation, *_: tf.Tensor) -> None:
    raise LookupError(f"{op.name}: {op.get_attr('_npu_op').decode()} over several ranks has no gradient, as on a host")
