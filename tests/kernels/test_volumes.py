"""Volumes with the channels first: TensorFlow's CPU has only channels last, so that is what they are compared with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tests.kernels import oracle
from tests.kernels.harness import Case, arr, call, case, i32

FIRST = (0, 4, 1, 2, 3)
LAST = (0, 2, 3, 4, 1)
IMAGE, FILTER, GRADIENT = arr(2, 5, 6, 7, 3), arr(3, 2, 2, 3, 4), arr(2, 3, 3, 4, 4)
POOLED = arr(2, 3, 3, 4, 3)
WINDOW = {"ksize": [1, 2, 3, 2, 1], "strides": [1, 2, 2, 2, 1], "padding": "SAME"}
STEPS = {"strides": [1, 2, 2, 2, 1], "padding": "SAME"}
CASES = [
    case("Conv3D", IMAGE, FILTER, **STEPS),
    case("Conv3DBackpropInputV2", i32(*IMAGE.shape), FILTER, GRADIENT, **STEPS),
    case("Conv3DBackpropFilterV2", IMAGE, i32(*FILTER.shape), GRADIENT, **STEPS),
    case("MaxPool3D", IMAGE, **WINDOW),
    case("AvgPool3D", IMAGE, **WINDOW),
    case("AvgPool3DGrad", i32(*IMAGE.shape), POOLED, **WINDOW),
]


def _channels_first(value: Any) -> Any:
    """Volumes, their sizes and attributes over five axes; filters stay."""
    if isinstance(value, np.ndarray):
        if value is FILTER or value.tolist() == list(FILTER.shape):
            return value
        return value.transpose(FIRST) if value.ndim == 5 else value[list(FIRST)]
    return [value[axis] for axis in FIRST]


@pytest.mark.parametrize("one", CASES, ids=lambda one: one.op)
def test_channels_first(one: Case) -> None:
    attrs = {name: value if name == "padding" else _channels_first(value) for name, value in one.attrs.items()}
    turned = case(one.op, *(_channels_first(value) for value in one.inputs), data_format="NCDHW", **attrs)
    mine = call(turned, turned.flat())[0]
    mine = mine if mine.shape == FILTER.shape else mine.transpose(LAST)
    np.testing.assert_allclose(mine, oracle.run(one)[0][0], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_the_first_of_equal_elements_gets_the_gradient(padding: str) -> None:
    """As behind TensorFlow's own MaxPool3D in a training graph."""
    tied = arr(1, 4, 4, 4, 2, dtype="int32", low=0, high=3).astype(np.float32)
    with tf.Graph().as_default():
        x = tf.constant(tied)
        y = tf.nn.max_pool3d(x, 2, 1, padding)
        dy = tf.constant(arr(*y.shape))
        with oracle.plain_session() as session:
            expected = session.run(tf.gradients(y, x, dy)[0])
            pooled, weights = session.run([y, dy])
    window = {"ksize": [1, 2, 2, 2, 1], "strides": [1] * 5, "padding": padding}
    made = call(case("MaxPool3DGrad", tied, pooled, weights, **window), [tied, pooled, weights])[0]
    np.testing.assert_allclose(made, expected, rtol=1e-6, atol=1e-6)
