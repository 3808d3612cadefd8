"""Primitives of networks: activations, bias, softmax, resizing; and those of convolution, normalisation, loss and update."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from mindspore.ops.operations import _conv_ops, _loss_ops, _norm_ops, _recurrent_ops, _update_ops
from mindspore.ops.operations._conv_ops import *
from mindspore.ops.operations._loss_ops import *
from mindspore.ops.operations._norm_ops import *
from mindspore.ops.operations._recurrent_ops import *
from mindspore.ops.operations._update_ops import *
from mindspore.ops.primitive import primitive
from npu_bridge.npu_init import tf


def _gelu(x: Any) -> Any:
    """The form with tanh, which the card computes."""
    return 0.5 * x * (1.0 + tf.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * tf.pow(x, 3.0))))


def _fast_gelu(x: Any) -> Any:
    size = tf.abs(x)
    return x / (1.0 + tf.exp(-1.702 * size)) * tf.exp(0.851 * (x - size))


def _elu(x: Any, alpha: float) -> Any:
    if alpha != 1.0:
        raise ValueError(f"Elu(alpha={alpha}): r1.1 has alpha=1.0 alone")
    return tf.nn.elu(x)


Flatten = primitive("Flatten", lambda x: tf.reshape(x, (x.shape[0], int(np.prod(x.shape.as_list()[1:])))))
ReLU, ReLU6, Sigmoid, Tanh = (
    primitive("ReLU", tf.nn.relu), primitive("ReLU6", tf.nn.relu6), primitive("Sigmoid", tf.sigmoid),
    primitive("Tanh", tf.tanh),
)  # fmt: skip
Softplus, Softsign, Gelu, FastGelu = (
    primitive("Softplus", tf.nn.softplus), primitive("Softsign", tf.nn.softsign), primitive("Gelu", _gelu),
    primitive("FastGelu", _fast_gelu),
)  # fmt: skip
Elu = primitive("Elu", _elu, alpha=1.0)
HSigmoid = primitive("HSigmoid", lambda x: tf.nn.relu6(x + 3.0) / 6.0)
HSwish = primitive("HSwish", lambda x: x * tf.nn.relu6(x + 3.0) / 6.0)
ReLUV2 = primitive("ReLUV2", lambda x: (tf.nn.relu(x), tf.cast(x > 0, tf.uint8)))


def _prelu(x: Any, weight: Any) -> Any:
    """x, or weight * x below 0; a weight for each channel, or one."""
    slope = tf.reshape(weight, [1, -1] + [1] * (x.shape.rank - 2)) if x.shape.rank > 1 else weight
    return tf.where_v2(x > 0, x, slope * x)


PReLU = primitive("PReLU", _prelu)


def _last_axis(axis: Any) -> int:
    return axis[0] if isinstance(axis, (tuple, list)) and len(axis) == 1 else axis


Softmax = primitive("Softmax", lambda x, axis: tf.nn.softmax(x, _last_axis(axis)), axis=-1)
LogSoftmax = primitive("LogSoftmax", lambda x, axis: tf.nn.log_softmax(x, axis), axis=-1)


def _with_bias(x: Any, bias: Any, data_format: str) -> Any:
    if x.shape[1] != bias.shape[0]:
        raise ValueError(f"BiasAdd: the input has {x.shape[1]} channels, and the bias {bias.shape[0]}")
    return tf.nn.bias_add(x, bias, data_format="NC..") if x.shape.rank > 2 else tf.nn.bias_add(x, bias)


BiasAdd = primitive("BiasAdd", _with_bias, data_format="NCHW")


def _one_hot(indices: Any, depth: int, on: Any, off: Any, axis: int) -> Any:
    """One-hot vectors in the type of the value that is on."""
    kind = on.dtype if isinstance(on, tf.Tensor) else tf.float32
    on, off = (tf.reshape(tf.cast(one, kind), ()) for one in (on, off))
    indices = indices if indices.dtype in (tf.uint8, tf.int32, tf.int64) else tf.cast(indices, tf.int32)
    return tf.one_hot(indices, int(depth), on, off, axis, kind)


OneHot = primitive("OneHot", _one_hot, axis=-1)
TopK = primitive("TopK", lambda x, k, sorted: tuple(tf.nn.top_k(x, k, sorted=sorted)), sorted=False)
InTopK = primitive("InTopK", lambda x, labels, k: tf.nn.in_top_k(x, labels, k), k=1)
Pad = primitive("Pad", lambda x, paddings: tf.pad(x, paddings), paddings=())
MirrorPad = primitive("MirrorPad", lambda x, paddings, mode: tf.pad(x, paddings, mode), mode="REFLECT")


def _resized_bilinear(x: Any, size: Any, align_corners: bool) -> Any:
    """Images of another size, in float32."""
    images = tf.transpose(x, (0, 2, 3, 1))
    return tf.transpose(tf.image.resize_bilinear(images, size, align_corners=align_corners), (0, 3, 1, 2))


ResizeBilinear = primitive("ResizeBilinear", _resized_bilinear, size=(), align_corners=False)
DataFormatDimMap = primitive(
    "DataFormatDimMap",
    lambda x, src_format, dst_format: tf.gather([dst_format.index(one) for one in src_format], tf.math.floormod(x, 4)),
    src_format="NHWC", dst_format="NCHW",
)  # fmt: skip

__all__ = [
    "BiasAdd", "DataFormatDimMap", "Elu", "FastGelu", "Flatten", "Gelu", "HSigmoid", "HSwish", "InTopK", "LogSoftmax",
    "MirrorPad", "OneHot", "PReLU", "Pad", "ReLU", "ReLU6", "ReLUV2", "ResizeBilinear", "Sigmoid", "Softmax", "Softplus",
    "Softsign", "Tanh", "TopK", *_conv_ops.__all__, *_loss_ops.__all__, *_norm_ops.__all__, *_recurrent_ops.__all__,
    *_update_ops.__all__,
]  # fmt: skip
