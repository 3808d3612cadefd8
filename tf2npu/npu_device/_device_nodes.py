"""Nodes of the device in functions of TensorFlow, which tapes and graphs know how to differentiate."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import tensorflow as tf
from tensorflow.python.eager import record
from tensorflow.python.framework import ops

from npu_runtime.importers.tensorflow import device_calls

Gradient = Callable[..., Sequence[tf.Tensor]]
"""Takes the inputs of a node as a list, and the gradients of its results; gives those of the inputs."""


def register(name: str, gradient: Gradient) -> None:
    """Name a gradient, by which a graph finds it."""

    @ops.RegisterGradient(name)
    def of_node(node: tf.Operation, *results: tf.Tensor) -> Sequence[tf.Tensor]:
        return gradient(list(node.inputs), *results)


def add(
    npu_op: str, body: device_calls.Body, inputs: Sequence[tf.Tensor], gradient: tuple[str, Gradient], **attributes: int | str
) -> tf.Tensor:
    """The result of a new node, which has the shape of the first input; without a graph the body is computed.

    gradient: its name and itself.  attributes: of the node.
    """
    name, of_inputs = gradient
    results = device_calls.call(npu_op, body, inputs, gradient=name, **attributes)
    if not tf.executing_eagerly():
        results[0].set_shape(inputs[0].shape)
        record.record_operation(npu_op, results, list(inputs), lambda *dy: of_inputs(list(inputs), *dy))
    return results[0]
