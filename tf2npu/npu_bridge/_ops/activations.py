"""GELU and its faster form."""

from __future__ import annotations

import math

import tensorflow as tf

from npu_runtime.importers.tensorflow import device_calls

_C = math.sqrt(2.0 / math.pi)
_CUBIC = 0.044715
"""The coefficient of the cube in GELU's approximation by tanh. Source: Hendrycks and Gimpel, arXiv 1606.08415."""
_FAST = 1.702
"""The factor of x in GELU's approximation by the logistic function. Source: Hendrycks and Gimpel, arXiv 1606.08415."""


def gelu(features: tf.Tensor, name: str | None = None) -> tf.Tensor:
    """GELU in its tanh form, 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).

    features: any shape, fp16|fp32|fp64.  Returns: same shape and dtype.
    """
    return _unary("Gelu", _gelu_body, features, "NpuGelu", name)


def gelu_grad(gradients: tf.Tensor, features: tf.Tensor, activations: tf.Tensor, name: str | None = None) -> tf.Tensor:
    """Gradient of GELU: ``gradients`` times its derivative at ``features``; ``activations`` is gelu(features)."""
    inputs = [gradients, features, activations]
    outputs = device_calls.call("GeluGrad", _gelu_grad_body, inputs, gradient="NpuGeluGrad", name=name)
    return _with_shape(outputs, features)


def fast_gelu(features: tf.Tensor, name: str | None = None) -> tf.Tensor:
    """The faster GELU, x / (1 + e^(-1.702 |x|)) * e^(0.851 (x - |x|)), which is x sigmoid(1.702 x)."""
    return _unary("FastGelu", _fast_gelu_body, features, "NpuFastGelu", name)


def fast_gelu_grad(gradients: tf.Tensor, features: tf.Tensor, name: str | None = None) -> tf.Tensor:
    """Gradient of the faster GELU."""
    outputs = device_calls.call(
        "FastGeluGrad", _fast_gelu_grad_body, [gradients, features], gradient="NpuFastGeluGrad", name=name
    )
    return _with_shape(outputs, features)


def _unary(npu_op: str, body: device_calls.Body, features: tf.Tensor, gradient: str, name: str | None) -> tf.Tensor:
    features = tf.convert_to_tensor(features, name="features")
    return _with_shape(device_calls.call(npu_op, body, [features], gradient=gradient, name=name), features)


def _with_shape(outputs: list[tf.Tensor], like: tf.Tensor) -> tf.Tensor:
    if not tf.executing_eagerly():
        outputs[0].set_shape(tf.convert_to_tensor(like).shape)
    return outputs[0]


def _gelu_body(x: tf.Tensor) -> tf.Tensor:
    return x * (0.5 * (1.0 + tf.tanh(_C * (x + _CUBIC * tf.pow(x, 3)))))


def _gelu_grad_body(dy: tf.Tensor, x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    tanh = tf.tanh(_C * (x + _CUBIC * x * x * x))
    slope = 0.5 * (1.0 + tanh) + 0.5 * x * (1.0 - tanh * tanh) * _C * (1.0 + 3.0 * _CUBIC * x * x)
    return dy * slope


def _fast_gelu_body(x: tf.Tensor) -> tf.Tensor:
    magnitude = tf.abs(x)
    return x / (1.0 + tf.exp(-_FAST * magnitude)) * tf.exp(0.5 * _FAST * (x - magnitude))


def _fast_gelu_grad_body(dy: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
    gate = tf.sigmoid(_FAST * x)
    return dy * (gate + _FAST * x * gate * (1.0 - gate))


@tf.RegisterGradient("NpuGelu")
def _gradient_of_gelu(op: tf.Operation, dy: tf.Tensor) -> tf.Tensor:
    return gelu_grad(dy, op.inputs[0], op.outputs[0])


@tf.RegisterGradient("NpuGeluGrad")
def _gradient_of_gelu_grad(op: tf.Operation, ddx: tf.Tensor) -> list[tf.Tensor | None]:
    dy, x, y = op.inputs
    plain = _gelu_grad_body(dy, x, y)
    return [*tf.gradients(plain, [dy, x], grad_ys=ddx), None]


@tf.RegisterGradient("NpuFastGelu")
def _gradient_of_fast_gelu(op: tf.Operation, dy: tf.Tensor) -> tf.Tensor:
    return fast_gelu_grad(dy, op.inputs[0])


@tf.RegisterGradient("NpuFastGeluGrad")
def _gradient_of_fast_gelu_grad(op: tf.Operation, ddx: tf.Tensor) -> list[tf.Tensor]:
    dy, x = op.inputs
    return list(tf.gradients(_fast_gelu_grad_body(dy, x), [dy, x], grad_ys=ddx))
