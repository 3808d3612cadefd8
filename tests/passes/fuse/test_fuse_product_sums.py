"""Sums of products of turned matrices as one product."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from npu_runtime.graph.verify import verify
from npu_runtime.passes.fuse.fuse_product_sums import fuse_product_sums
from npu_runtime.passes.simplify.fold_constants import fold_constants
from tests.passes.graphs import assert_as_on_tensorflow, imported, ops


def _shared_weight(other_term: bool) -> tuple[Any, Any]:
    """(rows, the gradient of a matrix that four products share), which may also be decayed."""
    x = tf.placeholder(tf.float32, [4, 3, 20], name="x")
    w = tf.get_variable("w", [20, 30], initializer=tf.random_normal_initializer(seed=1), use_resource=True)
    rows = tf.unstack(x)
    loss = tf.add_n([tf.reduce_sum(tf.tanh(tf.matmul(row, w))) for row in rows])
    return x, tf.gradients(loss + tf.nn.l2_loss(w) if other_term else loss, w)[0]


@pytest.mark.parametrize("other_term", [False, True])
def test_the_gradient_of_a_matrix_used_again_and_again_is_one_product(other_term: bool) -> None:
    x, gradient = _shared_weight(other_term)
    graph = imported(gradient, {x: (4, 3, 20)})
    fold_constants.run(graph)
    assert fuse_product_sums.run(graph) == 1
    verify(graph)
    assert ops(graph).count("_ProductSum") == 1
    assert ops(graph).count("AddN") == int(other_term)
    assert not any(node.op == "MatMul" and node.attrs["transpose_a"] for node in graph)
    value = np.random.default_rng(1).standard_normal((4, 3, 20)).astype(np.float32)
    assert_as_on_tensorflow(gradient, {x: value})


def test_products_larger_in_their_factors_or_seen_by_others_are_added() -> None:
    x = tf.placeholder(tf.float32, [60, 5])
    products = [tf.matmul(tf.sin(x * i), tf.cos(x * i), transpose_a=True) for i in (1.0, 2.0)]
    graph = imported(tf.add_n(products), {x: (60, 5)})
    assert fuse_product_sums.run(graph) == 0
    x = tf.placeholder(tf.float32, [2, 50])
    products = [tf.matmul(tf.sin(x * i), tf.cos(x * i), transpose_a=True) for i in (1.0, 2.0)]
    graph = imported(tf.add_n(products) * products[0], {x: (2, 50)})
    assert fuse_product_sums.run(graph) == 0
