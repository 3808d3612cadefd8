"""The operator library: what ``helper.get_gen_ops()`` hands out, one function an operator of the device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf
from npu_bridge._ops import dropout as _dropout
from npu_bridge._ops.activations import fast_gelu, fast_gelu_grad, gelu, gelu_grad
from npu_bridge._ops.device_channel import initialize_system, outfeed_dequeue_op, outfeed_enqueue_op, shutdown_system
from npu_bridge._ops.float_status import npu_alloc_float_status, npu_clear_float_status, npu_get_float_status
from npu_bridge._ops.fused_optimizers import (
    adam_apply_one_assign,
    adam_apply_one_with_decay_assign,
    lamb_apply_optimizer_assign,
    lamb_apply_weight_assign,
    lars,
)
from npu_bridge._ops.fused_optimizers import lars_v2 as _lars_v2
from npu_bridge._ops.recurrent import lstm_cell
from npu_bridge._ops.selection import centralization, k_means_centroids, prelu, scatter_elements
from npu_bridge._ops.selection import layer_norm as _layer_norm
from npu_bridge._ops.selection import nonzero as non_zero
from npu_bridge._ops.selection import nonzerowithvalue as non_zero_with_value

drop_out_gen_mask = drop_out_gen_mask_v3 = drop_out_gen_mask_v4 = _dropout.gen_mask
drop_out_do_mask = drop_out_do_mask_v3 = _dropout.do_mask
npu_init, npu_shutdown = initialize_system, shutdown_system
outfeed_enqueue, outfeed_dequeue = outfeed_enqueue_op, outfeed_dequeue_op
p_relu = prelu

__all__ = [
    "adam_apply_one_assign",
    "adam_apply_one_with_decay_assign",
    "basic_lstm_cell",
    "centralization",
    "drop_out_do_mask",
    "drop_out_do_mask_v3",
    "drop_out_gen_mask",
    "drop_out_gen_mask_v3",
    "drop_out_gen_mask_v4",
    "fast_gelu",
    "fast_gelu_grad",
    "fused_layer_norm",
    "gelu",
    "gelu_grad",
    "k_means_centroids",
    "lamb_apply_optimizer_assign",
    "lamb_apply_weight_assign",
    "lars",
    "lars_v2",
    "non_zero",
    "non_zero_with_value",
    "npu_alloc_float_status",
    "npu_clear_float_status",
    "npu_get_float_status",
    "npu_init",
    "npu_shutdown",
    "outfeed_dequeue",
    "outfeed_enqueue",
    "p_relu",
    "prelu",
    "scatter_elements",
]


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    if name in ("dropout_v3", "dropout_v4"):  # scripts reach them through the library too
        from npu_bridge.estimator import npu_aicore_ops

        return getattr(npu_aicore_ops, name)
    raise AttributeError(f"npu_bridge's operator library has no {name!r} on the simulated device; it has: {', '.join(__all__)}")


def lars_v2(
    w: tf.Tensor,
    g: tf.Tensor,
    weight_decay: tf.Tensor,
    learning_rate: tf.Tensor,
    hyperpara: float = 0.001,
    epsilon: float = 1e-05,
    use_clip: bool = False,
    name: str | None = None,
) -> tf.Tensor:
    """Layer-wise adaptive rate for one weight; see ``npu_ops.LARSV2``."""
    return _lars_v2(w, g, weight_decay, learning_rate, hyperpara, epsilon, use_clip, name)


def fused_layer_norm(
    x: tf.Tensor,
    gamma: tf.Tensor,
    beta: tf.Tensor,
    begin_norm_axis: int = 0,
    begin_params_axis: int = 0,
    epsilon: float = 1e-07,
    name: str | None = None,
) -> list[tf.Tensor]:
    """Layer normalisation: result, mean, variance."""
    return _layer_norm(x, gamma, beta, begin_norm_axis, begin_params_axis, epsilon, name)


def basic_lstm_cell(
    x: tf.Tensor,
    h: tf.Tensor,
    c: tf.Tensor,
    w: tf.Tensor,
    b: tf.Tensor,
    keep_prob: float = 1.0,
    forget_bias: float = 1.0,
    state_is_tuple: bool = True,
    activation: str = "tanh",
    name: str | None = None,
) -> Sequence[tf.Tensor]:
    """One step of an LSTM: c, h, i, j, f, o, tanh(c), each [batch, hidden]; gate order i, j, f, o.

    x: [batch, in].  h, c: [batch, hidden].  w: [in + hidden, 4 hidden].  b: [4 hidden].
    Raises: ValueError for an activation other than tanh.
    """
    if activation != "tanh":
        raise ValueError(f"basic_lstm_cell knows the activation 'tanh', got {activation!r}")
    with tf.name_scope(name, "BasicLSTMCell"):
        next_c, next_h, j, i, f, o, tanh_c = lstm_cell(x, h, c, w, b, forget_bias)
        return next_c, next_h, i, j, f, o, tanh_c
