"""Clipped tensors and gradients."""

from __future__ import annotations

from typing import Any

from mindspore._device.operation import apply
from mindspore.common.tensor_operators import promoted
from npu_bridge.npu_init import tf


def clip_by_value(x: Any, clip_value_min: Any, clip_value_max: Any) -> Any:
    """The tensor with its elements between two values."""

    def clipped(node: Any, low: Any, high: Any) -> Any:
        return tf.maximum(*promoted(tf.minimum(*promoted(node, high)), low))

    return apply("clip_by_value", clipped, x, clip_value_min, clip_value_max)


def clip_by_global_norm(x: Any, clip_norm: float = 1.0, use_norm: Any = None) -> Any:
    """Tensors scaled so that the norm of all together is at most `clip_norm`.  Source: mindspore.cn, r1.1."""
    if clip_norm < 0:
        raise ValueError(f"clip_by_global_norm(clip_norm={clip_norm}): it is above 0")
    return apply(("clip_by_global_norm", clip_norm), lambda *nodes: tuple(tf.clip_by_global_norm(list(nodes), clip_norm)[0]), *x)
