"""Operators of the vector unit."""

from __future__ import annotations

import tensorflow as tf
from npu_bridge._ops.fused_optimizers import lamb_apply_optimizer_assign, lamb_apply_weight_assign
from npu_bridge._ops.selection import prelu

__all__ = ["PReLU", "lamb_apply_optimizer_assign", "lamb_apply_weight_assign"]


class PReLU(tf.keras.layers.PReLU):
    """Keras' PReLU, computed by the device's operator."""

    def build(self, input_shape: tf.TensorShape) -> None:
        """Make the slopes."""
        super().build(input_shape)

    def call(self, inputs: tf.Tensor) -> tf.Tensor:
        """``inputs`` where positive, else the learned slope times them."""
        return prelu(inputs, self.alpha)
