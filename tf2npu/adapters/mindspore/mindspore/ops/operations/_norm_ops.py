"""Normalisation and dropout."""

from __future__ import annotations

from typing import Any

import numpy as np
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.ops.operations._draws import drawn
from mindspore.ops.primitive import Primitive, primitive
from npu_bridge.npu_init import tf


def _batch_norm(x: Any, scale: Any, bias: Any, mean: Any, variance: Any, **attrs: Any) -> Any:
    """(numbers, mean, variance, two reserved): with is_training those of the batch, its variance unbiased, else those given."""
    images = x if x.shape.rank == 4 else tf.reshape(x, (*x.shape.as_list()[:2], -1, 1))
    scale, bias = tf.cast(scale, tf.float32), tf.cast(bias, tf.float32)
    moving = {} if attrs["is_training"] else {"mean": tf.cast(mean, tf.float32), "variance": tf.cast(variance, tf.float32)}
    y, of_batch, variance_of_batch = tf.nn.fused_batch_norm(
        images, scale, bias, epsilon=attrs["epsilon"], data_format="NCHW", is_training=attrs["is_training"], **moving
    )
    if not attrs["is_training"]:
        of_batch, variance_of_batch = moving["mean"], moving["variance"]
    return tf.reshape(y, x.shape), of_batch, variance_of_batch, of_batch, variance_of_batch


BatchNorm = primitive("BatchNorm", _batch_norm, is_training=False, epsilon=1e-05, data_format="NCHW")


class FusedBatchNorm(Primitive):
    """Batch normalisation that moves the statistics itself, with mode=1; momentum is the part of the batch."""

    defaults = (("mode", 0), ("epsilon", 1e-05), ("momentum", 0.1), ("data_format", "NCHW"))

    def __call__(self, x: Any, scale: Any, bias: Any, mean: Any, variance: Any) -> Any:
        from mindspore.ops.operations.other_ops import AssignSub

        found = BatchNorm(self.mode == 1, self.epsilon)(x, scale, bias, mean, variance)
        if self.mode == 1:
            for moving, new in ((mean, found[1]), (variance, found[2])):
                if isinstance(moving, Parameter):
                    AssignSub()(moving, (moving - new) * self.momentum)
        return found


class FusedBatchNormEx(FusedBatchNorm):
    """As FusedBatchNorm."""


def _layer_norm(x: Any, gamma: Any, beta: Any, begin_norm_axis: int, begin_params_axis: int, epsilon: float) -> Any:
    """(numbers, mean, variance) over the axes from begin_norm_axis on, in float32."""
    axes = list(range(begin_norm_axis % x.shape.rank, x.shape.rank))
    whole = tf.cast(x, tf.float32)
    mean, variance = tf.nn.moments(whole, axes, keep_dims=True)
    y = (whole - mean) * tf.math.rsqrt(variance + epsilon) * tf.cast(gamma, tf.float32) + tf.cast(beta, tf.float32)
    return tf.cast(y, x.dtype), mean, variance


LayerNorm = primitive("LayerNorm", _layer_norm, begin_norm_axis=1, begin_params_axis=1, epsilon=1e-7)
L2Normalize = primitive("L2Normalize", lambda x, axis, epsilon: tf.nn.l2_normalize(x, axis, epsilon), axis=0, epsilon=1e-4)


def _local_response(x: Any, depth_radius: int, bias: float, alpha: float, beta: float, norm_region: str) -> Any:
    images = tf.transpose(x, (0, 2, 3, 1))
    return tf.transpose(tf.nn.local_response_normalization(images, depth_radius, bias, alpha, beta), (0, 3, 1, 2))


LRN = primitive(
    "LRN", _local_response, depth_radius=5, bias=1.0, alpha=1.0, beta=0.5, norm_region="ACROSS_CHANNELS"
)  # fmt: skip


class Dropout(Primitive):
    """(numbers, mask): each number stays with keep_prob, and is then divided by it."""

    defaults = (("keep_prob", 0.5), ("Seed0", 0), ("Seed1", 0))

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        if not 0 < self.keep_prob <= 1:
            raise ValueError(f"Dropout(keep_prob={self.keep_prob}): a number above 0 and up to 1 is needed")

    def __call__(self, x: Tensor) -> Any:
        def dropped(node: Any, seed: Any) -> Any:
            mask = tf.cast(tf.random_uniform(node.shape, seed=seed) < self.keep_prob, node.dtype)
            return node * mask / np.array(self.keep_prob, node.dtype.as_numpy_dtype), mask

        return drawn(self, dropped, x)


class DropoutGenMask(Primitive):
    """A mask for DropoutDoMask: 1 with keep_prob, else 0; it has the shape, while that of the card packs eight in a byte."""

    defaults = (("Seed0", 0), ("Seed1", 0))

    def __call__(self, shape: Any, keep_prob: Any) -> Tensor:
        def mask(extents: Any, keep: Any, seed: Any) -> Any:
            return tf.cast(tf.random_uniform(extents, seed=seed) < tf.cast(keep, tf.float32), tf.uint8)

        return drawn(self, mask, tuple(shape), keep_prob)


def _masked(x: Any, mask: Any, keep_prob: Any) -> Any:
    keep = tf.cast(tf.reshape(mask, x.shape), x.dtype)
    return x * keep / tf.cast(keep_prob, x.dtype)


DropoutDoMask = primitive("DropoutDoMask", _masked)

__all__ = [
    "LRN", "BatchNorm", "Dropout", "DropoutDoMask", "DropoutGenMask", "FusedBatchNorm", "FusedBatchNormEx", "L2Normalize",
    "LayerNorm",
]  # fmt: skip
