"""Mixed precision as a migrated script asks for it: loss scaling, overflow in both modes, options of the whole process."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest
import tensorflow as tf
from npu_bridge.estimator.npu import npu_plugin

from npu_runtime.device import float_status
from npu_runtime.session import run_log
from tests import fork_server
from tests.shim.conftest import checked


@pytest.fixture(params=["infinities", "saturation", "nobody asked"])
def mode(request):
    """Nobody asked is saturation, on the first chips, of which the default is one."""
    if request.param != "nobody asked":
        npu_plugin.set_device_sat_mode(0 if request.param == "saturation" else 1)
    yield request.param
    float_status.ask(None)


def points(n=256, seed=0):
    random = np.random.RandomState(seed)
    labels = random.randint(0, 4, n)
    centres = np.array([[2, 0, 1], [-2, 1, 0], [0, -2, 2], [1, 2, -2]])
    return (random.randn(n, 3) + centres[labels]).astype(np.float32), labels


def session_config(precision_mode):
    from npu_bridge.npu_init import npu_config_proto

    config = npu_config_proto()
    entry = config.graph_options.rewrite_options.custom_optimizers[0]
    entry.parameter_map["precision_mode"].s = tf.compat.as_bytes(precision_mode)
    return config


def classifier():
    """Loss, accuracy and the variables of a small network, the same in every run."""
    x, labels = points()
    random = np.random.RandomState(1)
    w1 = tf.get_variable("w1", initializer=random.randn(3, 32).astype(np.float32) * 0.5)
    b1 = tf.get_variable("b1", initializer=np.zeros(32, np.float32))
    w2 = tf.get_variable("w2", initializer=random.randn(32, 4).astype(np.float32) * 0.2)
    logits = tf.matmul(tf.nn.relu(tf.nn.bias_add(tf.matmul(tf.constant(x), w1), b1)), w2)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.constant(labels), logits=logits))
    accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), labels), tf.float32))
    return loss, accuracy, [w1, b1, w2]


def trained(precision_mode, manager, steps=60):
    """(scale, global step, w1) after each step, and the accuracy at the end.  manager: makes the loss-scale manager, or None."""
    from npu_bridge.npu_init import NPULossScaleOptimizer

    history = []
    with tf.Graph().as_default():
        loss, accuracy, variables = classifier()
        step = tf.train.get_or_create_global_step()
        optimizer = tf.train.MomentumOptimizer(0.2, 0.9)
        scale = tf.constant(1.0)
        if manager is not None:
            made = manager()
            optimizer, scale = NPULossScaleOptimizer(optimizer, made), made.get_loss_scale()
        train = optimizer.minimize(loss, step)
        with tf.Session(config=session_config(precision_mode)) as session:
            session.run(tf.global_variables_initializer())
            for _ in range(steps):
                session.run(train)
                history.append(session.run([scale, step, variables[0]]))
            return history, session.run(accuracy)


def exponential(scale=2.0**32, ratio=0.0625):
    from npu_bridge.npu_init import ExponentialUpdateLossScaleManager

    return lambda: ExponentialUpdateLossScaleManager(scale, 1000, decr_every_n_nan_or_inf=1, decr_ratio=ratio)


def test_a_scale_beyond_fp16_is_lowered_and_the_fp32_accuracy_is_reached(mode):
    history, accuracy = trained("allow_mix_precision", exponential())
    scales, steps = [row[0] for row in history], [row[1] for row in history]
    n_skipped = sum(step == 0 for step in steps)
    assert n_skipped >= 2 and scales[: n_skipped + 1] == [2.0**32 / 16 ** min(i + 1, n_skipped) for i in range(n_skipped + 1)]
    assert steps == [0] * n_skipped + list(range(1, len(steps) - n_skipped + 1)), (
        "the global step stands still with a skipped one"
    )
    for _, _, weight in history[:n_skipped]:
        np.testing.assert_array_equal(weight, history[0][2])
    _, wanted = trained("must_keep_origin_dtype", None, steps[-1])
    assert wanted > 0.85 and accuracy >= wanted - 0.01


def test_a_fixed_scale_that_overflows_skips_every_step(mode):
    from npu_bridge.npu_init import FixedLossScaleManager

    history, _ = trained("allow_mix_precision", lambda: FixedLossScaleManager(2.0**32), 5)
    assert [row[:2] for row in history] == [[2.0**32, 0]] * 5
    unchecked, _ = trained("allow_mix_precision", lambda: FixedLossScaleManager(2.0**32, enable_overflow_check=False), 2)
    assert unchecked[-1][1] == 2, "without the check the step is made, whatever comes of it"


def test_a_loop_that_skips_every_step_is_told_so(caplog):
    from npu_bridge import _log
    from npu_bridge.npu_init import FixedLossScaleManager

    _log.log.addHandler(caplog.handler)
    trained("allow_mix_precision", lambda: FixedLossScaleManager(2.0**32), 25)
    trained("allow_mix_precision", exponential(), 25)
    _log.log.removeHandler(caplog.handler)
    (told,) = [record.getMessage() for record in caplog.records if "last 20 steps" in record.getMessage()]
    assert "neither variables nor the global step move" in told and "must_keep_origin_dtype" in told


def test_a_scale_far_beyond_fp16s_range_still_gives_the_unscaled_gradients(mode):
    """The scale is taken out in fp32: in fp16 2^20 would be an infinity and its inverse nothing."""
    from npu_bridge.npu_init import FixedLossScaleManager, NPULossScaleOptimizer

    with tf.Graph().as_default():
        x = tf.constant(np.full([4, 8], 2.0**-12, np.float32))
        w = tf.get_variable("w", initializer=np.full([8, 2], 0.5, np.float32))
        loss = tf.reduce_mean(tf.matmul(x, w))
        plain = tf.train.GradientDescentOptimizer(1.0).compute_gradients(loss, [w])
        scaling = NPULossScaleOptimizer(tf.train.GradientDescentOptimizer(1.0), FixedLossScaleManager(2.0**18))
        scaled = scaling.compute_gradients(loss, [w])
        with tf.Session(config=session_config("allow_mix_precision")) as session:
            session.run(tf.global_variables_initializer())
            bare, found = session.run([plain[0][0], scaled[0][0]])
        right = np.full([8, 2], 2.0**-13, np.float32)
        np.testing.assert_array_equal(found, right)
        np.testing.assert_array_equal(bare, right)


def test_without_loss_scaling_an_overflow_is_reported(mode):
    run_log().clear()
    with tf.Graph().as_default():
        x = tf.constant(np.full([4, 4], 200, np.float32))
        product = tf.matmul(x, x, name="too_large")
        with tf.Session(config=session_config("allow_mix_precision")) as session:
            found = session.run(product)
    assert (found == 65504).all() if mode != "infinities" else np.isinf(found).all()
    (line,) = [line for line in run_log().digest() if "overflow: results of 1 node" in line]
    assert "too_large" in line and ("cuts them at 65504 (--option overflow=saturation)" in line) == (mode == "infinities")


def test_keep_dtype_scope():
    from npu_bridge.estimator.npu import npu_scope

    x = np.random.RandomState(0).randn(4, 9).astype(np.float32)
    with tf.Graph().as_default():
        with npu_scope.keep_dtype_scope():
            kept = tf.matmul(tf.constant(x), tf.constant(x.T))
        rounded = tf.matmul(tf.constant(x), tf.constant(x.T))
        with tf.Session(config=session_config("allow_mix_precision")) as session:
            kept, rounded = session.run([kept, rounded])
    np.testing.assert_array_equal(rounded, rounded.astype(np.float16).astype(np.float32))
    np.testing.assert_allclose(kept, x @ x.T, rtol=1e-5, atol=1e-6)
    assert (kept != rounded).all()


def test_options_of_the_whole_process_count_for_its_sessions():
    x = np.random.RandomState(0).randn(4, 9).astype(np.float32)

    def product(config=None):
        with tf.Graph().as_default(), tf.Session(config=config) as session:
            return session.run(tf.matmul(tf.constant(x), tf.constant(x.T)))

    exact = product()
    npu_plugin.npu_resource_init(precision_mode="allow_mix_precision")
    try:
        rounded = product()
        np.testing.assert_array_equal(rounded, rounded.astype(np.float16))
        np.testing.assert_array_equal(product(session_config("must_keep_origin_dtype")), exact)
    finally:
        npu_plugin.npu_resource_shutdown()
    np.testing.assert_array_equal(product(), exact)


SCRIPT = """
import numpy as np, tensorflow as tf
from npu_bridge.npu_init import *
from npu_bridge.estimator.npu import npu_plugin
x = tf.constant(np.full([2, 2], 300, np.float32))
with tf.Session() as session:
    print(session.run(tf.matmul(x, x))[0, 0], session.run(tf.square(tf.cast(x, tf.float16)))[0, 0] == 65504)
"""


@pytest.mark.whole(beyond=1)
@pytest.mark.parametrize(
    ("soc", "wanted"), [("Ascend910A", "65504.0 True"), ("Ascend910B2", "180000.0 False")], ids=["first chip", "newer chip"]
)
def test_the_chips_own_defaults_by_one_option(soc, wanted, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    options = json.dumps({"device_defaults": "on", "soc": soc})
    done = checked(fork_server.python([script], {**os.environ, "TF2NPU_OPTIONS": options}))
    assert done.stdout.split("\n")[-2] == wanted
