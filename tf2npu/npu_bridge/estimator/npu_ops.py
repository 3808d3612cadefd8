"""Operators that scripts call by name: dropout, device start and stop, LARS, fused Adam, LSTM cell, channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf
from npu_bridge import _gen_ops
from npu_bridge._ops.device_channel import (
    initialize_system,
    outfeed_dequeue_op,
    outfeed_enqueue_op,
    shutdown_system,
    stop_outfeed_dequeue_op,
)
from npu_bridge._ops.dropout import dropout, get_seed
from npu_bridge._ops.fused_optimizers import adam_apply_one_assign, adam_apply_one_with_decay_assign
from npu_bridge._ops.fused_optimizers import lars as LARS
from npu_bridge._ops.fused_optimizers import lars_v2 as LARSV2
from npu_bridge._ops.selection import k_means_centroids, scatter_elements
from npu_bridge._unsupported import refuse

__all__ = [
    "LARS",
    "LARSV2",
    "NPUInit",
    "NPUShutdown",
    "adam_apply_one_assign",
    "adam_apply_one_with_decay_assign",
    "basic_lstm_cell",
    "channel_get_next",
    "dropout",
    "get_seed",
    "initialize_system",
    "k_means_centroids",
    "npu_onnx_graph_op",
    "npu_test",
    "outfeed_dequeue_op",
    "outfeed_enqueue_op",
    "scatter_elements",
    "shutdown_system",
    "stop_outfeed_dequeue_op",
]

NPUInit = initialize_system
NPUShutdown = shutdown_system
gen_npu_ops = _gen_ops


def npu_test(name: str | None = None) -> tf.Operation:
    """An operation that does nothing, to see whether the operator library is there."""
    return tf.no_op(name=name or "NPUTest")


def basic_lstm_cell(
    x: tf.Tensor,
    h: tf.Tensor,
    c: tf.Tensor,
    w: tf.Tensor,
    b: tf.Tensor,
    keep_prob: float,
    forget_bias: float,
    state_is_tuple: bool,
    activation: str,
    name: str | None = None,
) -> Sequence[tf.Tensor]:
    """One step of an LSTM: c, h, i, j, f, o, tanh(c); see the operator library's ``basic_lstm_cell``.

    Raises: RuntimeError in eager execution.
    """
    if tf.executing_eagerly():
        raise RuntimeError("npu_ops.basic_lstm_cell works in graph mode only")
    return _gen_ops.basic_lstm_cell(x, h, c, w, b, keep_prob, forget_bias, state_is_tuple, activation, name)


def npu_onnx_graph_op(inputs: Any, tout: Any, model_path: str, name: str | None = None) -> Any:
    """Refused: the simulated device does not read ONNX files."""
    return refuse("npu_ops.npu_onnx_graph_op", "the simulated device does not run ONNX models; rebuild the model in TensorFlow")


def channel_get_next(channel_name: str, output_types: Any, output_shapes: Any) -> Any:
    """Refused: nothing fills a device channel from outside the process here."""
    return refuse("npu_ops.channel_get_next", "no other process fills a data channel here; read from tf.data")
