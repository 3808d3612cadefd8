"""Bias and activation in the product before them."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from npu_runtime.graph.verify import verify
from npu_runtime.passes.fuse.fuse_bias_activation import fuse_bias_activation
from npu_runtime.passes.simplify.fold_constants import fold_constants
from tests.passes.graphs import imported, ops
from tests.runtime.device import device_session


@pytest.mark.parametrize("kept", ["nothing", "bias", "head"])
def test_bias_and_activation_are_fused_when_nobody_looks_between(kept: str) -> None:
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    head = tf.matmul(x, tf.constant(np.arange(12, dtype=np.float32).reshape(3, 4)))
    bias = tf.nn.bias_add(head, tf.constant([1.0, -50.0, 2.0, 3.0]))
    y = tf.nn.relu(bias)
    if kept != "nothing":
        y = tf.add_n([y, {"bias": bias, "head": head}[kept]])
    graph = imported(y, {x: (2, 3)})
    fold_constants.run(graph)
    n_fused = fuse_bias_activation.run(graph)
    verify(graph)
    assert n_fused == {"nothing": 1, "bias": 1, "head": 0}[kept]
    assert ("Relu" in ops(graph)) == (kept != "nothing")
    value = np.ones((2, 3), np.float32)
    with tf.Session() as plain, device_session() as device:
        np.testing.assert_allclose(device.run(y, {x: value}), plain.run(y, {x: value}), rtol=1e-6)
