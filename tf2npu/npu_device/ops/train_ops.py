"""The faster GELU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf
from npu_device import _device_nodes

_FAST = 1.702
"""The factor of x in GELU's approximation by the logistic function. Source: Hendrycks and Gimpel, arXiv 1606.08415."""
_GRADIENT, _SECOND_GRADIENT = "NpuDeviceFastGelu", "NpuDeviceFastGeluGrad"


def gelu(x: Any) -> Any:
    """The faster GELU, x sigmoid(1.702 x), in functions and Keras models; outside of them ``tf.nn.gelu``, as on a device.

    x: any shape, fp16 or fp32, or a KerasTensor.  Returns: same shape and dtype.
    """
    if any(tf.keras.backend.is_keras_tensor(part) for part in tf.nest.flatten(x)):
        return tf.keras.layers.Lambda(gelu)(x)
    if tf.executing_eagerly():
        return tf.nn.gelu(x)
    return _device_nodes.add("FastGelu", _body, [tf.convert_to_tensor(x)], (_GRADIENT, _slope))


def _body(x: tf.Tensor) -> tf.Tensor:
    magnitude = tf.abs(x)
    return x / (1.0 + tf.exp(-_FAST * magnitude)) * tf.exp(0.5 * _FAST * (x - magnitude))


def _slope_body(dy: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
    gate = tf.sigmoid(_FAST * x)
    return dy * (gate + _FAST * x * gate * (1.0 - gate))


def _slope(inputs: Sequence[tf.Tensor], dy: tf.Tensor) -> list[tf.Tensor]:
    return [_device_nodes.add("FastGeluGrad", _slope_body, [dy, *inputs], (_SECOND_GRADIENT, _second_slope))]


def _second_slope(inputs: Sequence[tf.Tensor], dy: tf.Tensor) -> list[tf.Tensor]:
    own = [tf.identity(value) for value in inputs]  # tensors of this graph, and not of the function that it is the gradient of
    return list(tf.gradients(_slope_body(*own), own, grad_ys=dy))


_device_nodes.register(_GRADIENT, _slope)
_device_nodes.register(_SECOND_GRADIENT, _second_slope)
