"""Scopes are obeyed: operations and variables that the script keeps on the host run there, with the same numbers."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from npu_runtime.session import run_log


def reasons():
    """Reasons of the nodes that ran on the host in the newest session."""
    return {name: why for program in run_log().sessions[-1].programs for name, why in program.host_nodes.items()}


def trained(make_scope, steps=3):
    with tf.Graph().as_default():
        x = tf.constant(np.random.RandomState(0).randn(4, 3).astype(np.float32))
        with make_scope():
            w = tf.get_variable("w", initializer=np.ones([3, 2], np.float32))
            y = tf.identity(tf.tanh(tf.matmul(x, w)), name="kept")
        loss = tf.reduce_sum(tf.nn.relu(y) * 2)
        step = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for _ in range(steps):
                session.run(step)
            values = session.run([w, loss])
            return values, reasons()


def no_scope():
    return tf.name_scope("")


def test_operations_without_compile_run_on_the_host():
    from npu_bridge.estimator.npu.npu_scope import without_npu_compile_scope

    wanted, none = trained(no_scope)
    values, found = trained(without_npu_compile_scope)
    for got, value in zip(values, wanted, strict=True):
        np.testing.assert_allclose(got, value, rtol=1e-5)
    assert not any("the script keeps it" in why for why in none.values())
    kept = {name.split("/")[0] for name, why in found.items() if why.endswith("host: without_npu_compile_scope")}
    assert {"w", "MatMul", "Tanh", "kept"} <= kept and "Relu" not in found


@pytest.mark.parametrize("use_resource", [False, True])
def test_variables_are_placed_on_the_host(use_resource):
    from npu_bridge.estimator.npu.npu_config import NpuExecutePlacement
    from npu_bridge.estimator.npu.npu_scope import npu_variable_scope

    def scope():
        tf.get_variable_scope().set_use_resource(use_resource)
        return npu_variable_scope(NpuExecutePlacement.HOST)

    wanted, _ = trained(no_scope)
    values, found = trained(scope)
    for got, value in zip(values, wanted, strict=True):
        np.testing.assert_allclose(got, value, rtol=1e-5)
    assert found["w"] == "the script keeps it on the host: npu_variable_scope" and "Tanh" not in found


def test_a_wish_is_no_fallback(graph, monkeypatch):
    """host_fallback=error refuses what the device cannot do, not what the script wants."""
    from npu_bridge.estimator.npu.npu_scope import without_npu_compile_scope

    monkeypatch.setenv("TF2NPU_OPTIONS", '{"host_fallback": "error"}')
    with without_npu_compile_scope():
        y = tf.square(tf.placeholder_with_default([1.0, 2.0], [2]))
    with tf.Session() as session:
        assert session.run(y + 1).tolist() == [2, 5]
    assert "Square" in reasons()


def test_a_device_operation_inside_the_scope(graph):
    from npu_bridge.estimator.npu.npu_scope import without_npu_compile_scope
    from npu_bridge.estimator.npu_unary_ops import npu_unary_ops

    x = tf.placeholder(tf.float32, [3])
    free = npu_unary_ops.gelu(x)
    with without_npu_compile_scope():
        kept = npu_unary_ops.gelu(x)
    with tf.Session() as session:
        one, other = session.run([free, kept], {x: [-1.0, 0.5, 2.0]})
    np.testing.assert_allclose(one, other, rtol=1e-5)
    assert any("without_npu_compile_scope" in why for why in reasons().values())


def test_a_device_operation_in_a_type_that_only_the_host_has(graph):
    from npu_bridge.estimator.npu_unary_ops import npu_unary_ops

    x = tf.placeholder(tf.float64, [2])
    with tf.Session() as session:
        got = session.run(npu_unary_ops.gelu(x), {x: [1.0, 2.0]})
    np.testing.assert_allclose(got, [0.84119199, 1.95459769], rtol=1e-7)
    assert "the device has no float64" in reasons().values()
