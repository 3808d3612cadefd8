"""Gradients of functions of TensorFlow 1 (SymbolicGradient): on the device, with TensorFlow's values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from tensorflow.python.framework import function

from tests.runtime.test_functional_control_flow import host_nodes, on_device

X = np.random.RandomState(0).randn(3, 4).astype(np.float32) * np.float32(0.3)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


def symbolic(y: Any, *xs: Any) -> list[Any]:
    found = tf.gradients(y, xs)
    assert any(operation.type == "SymbolicGradient" for operation in tf.get_default_graph().get_operations())
    return found


def test_the_nodes_of_the_function_are_differentiated() -> None:
    @function.Defun(tf.float32, tf.float32)
    def f(x: Any, w: Any) -> Any:
        return tf.tanh(tf.matmul(x, w)) * tf.reduce_sum(x)

    x, w = tf.placeholder(tf.float32, [3, 4]), tf.get_variable("w", initializer=np.full([4, 2], 0.5, np.float32))
    y = f(x, w)
    y.set_shape([3, 2])
    on_device([y, *symbolic(y, x, w)], [{x: X}])


def test_an_argument_without_influence_has_zeros() -> None:
    @function.Defun(tf.float32, tf.float32)
    def f(x: Any, unused: Any) -> Any:
        return tf.square(x)

    x = tf.placeholder(tf.float32, [3, 4])
    y = f(x, x)
    y.set_shape([3, 4])
    on_device(symbolic(y, x), [{x: X}])


def test_a_registered_gradient_is_used() -> None:
    @function.Defun(tf.float32, tf.float32)
    def seven_times(x: Any, above: Any) -> Any:
        return 7 * above * x

    @function.Defun(tf.float32, grad_func=seven_times)
    def f(x: Any) -> Any:
        return tf.square(x)

    x = tf.placeholder(tf.float32, [3, 4])
    y = f(x)
    y.set_shape([3, 4])
    ((gradient,),) = on_device(symbolic(y, x), [{x: X}])
    np.testing.assert_array_equal(gradient, 7 * X)


def test_functions_in_functions() -> None:
    @function.Defun(tf.float32)
    def inner(x: Any) -> Any:
        return tf.sin(x) * x

    @function.Defun(tf.float32)
    def outer(x: Any) -> Any:
        y = inner(x)
        y.set_shape([3, 4])
        return tf.exp(y)

    x = tf.placeholder(tf.float32, [3, 4])
    y = outer(x)
    y.set_shape([3, 4])
    on_device([y, *symbolic(y, x)], [{x: X}])


def test_without_a_gradient_the_error_is_tensorflows() -> None:
    @function.Defun(tf.float32)
    def f(x: Any) -> Any:
        return tf.raw_ops.FakeQuantWithMinMaxArgsGradient(gradients=x, inputs=x)

    x = tf.placeholder(tf.float32, [3, 4])
    y = f(x)
    y.set_shape([3, 4])
    fetches = symbolic(y, x)
    with tf.Session() as session, pytest.raises(tf.errors.NotFoundError, match="No gradient defined for op"):
        session.run(fetches, {x: X})
    with pytest.raises(tf.errors.NotFoundError, match="No gradient defined for op"):
        host_nodes(fetches, {x: X})
