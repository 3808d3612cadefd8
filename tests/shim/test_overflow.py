"""Loss scaling in fp16: a scale that overflows is skipped and lowered, in infinity mode and in saturation mode."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from npu_bridge.estimator.npu import npu_plugin

from npu_runtime.device import float_status


@pytest.fixture(params=["infinities", "saturation", "nobody asked"])
def mode(request):
    if request.param != "nobody asked":
        npu_plugin.set_device_sat_mode(0 if request.param == "saturation" else 1)
    yield request.param
    float_status.ask(None)


def points(seed=0, n=64):
    random = np.random.RandomState(seed)
    labels = random.randint(0, 2, n)
    return (random.randn(n, 4) + 3 * labels[:, None] * np.array([1, -1, 1, 0])).astype(np.float32), labels


def network(x, labels, half):
    """A small classifier with fp32 variables, whose products are in fp16 when `half`; one variable has no gradient."""
    dtype = tf.float16 if half else tf.float32
    tf.get_variable("unused", initializer=1.0)
    table = tf.get_variable("table", initializer=np.full([2, 8], 0.1, np.float32))  # its gradient is IndexedSlices
    w1 = tf.get_variable("w1", initializer=np.random.RandomState(1).randn(4, 8).astype(np.float32) * 0.3)
    w2 = tf.get_variable("w2", initializer=np.random.RandomState(2).randn(8, 2).astype(np.float32) * 0.3)
    hidden = tf.nn.relu(tf.matmul(tf.cast(x, dtype), tf.cast(w1, dtype)) + tf.cast(tf.gather(table, [0])[0], dtype))
    logits = tf.cast(tf.matmul(hidden, tf.cast(w2, dtype)), tf.float32)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    return loss, tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), tf.cast(labels, tf.int64)), tf.float32))


def trained(wrap, half, steps=40):
    """(scale, global step, w1) after each step, and the accuracy at the end."""
    from npu_bridge.npu_init import ExponentialUpdateLossScaleManager

    history = []
    with tf.Graph().as_default():
        x, labels = points()
        loss, accuracy = network(tf.constant(x), tf.constant(labels), half)
        step = tf.train.get_or_create_global_step()
        manager = ExponentialUpdateLossScaleManager(2.0**26, 1000, decr_every_n_nan_or_inf=1, decr_ratio=0.25)
        optimizer = wrap(tf.train.MomentumOptimizer(0.1, 0.9), manager)
        gradients = optimizer.compute_gradients(loss, tf.trainable_variables())
        train = optimizer.apply_gradients(gradients, step)
        weight = tf.trainable_variables()[-2]
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for _ in range(steps):
                session.run(train)
                history.append(session.run([manager.get_loss_scale(), step, weight]))
            return history, session.run(accuracy)


def nestings():
    from npu_bridge.npu_init import NPUDistributedOptimizer, NPULossScaleOptimizer, NPUOptimizer

    return {
        "inside": lambda inner, manager: NPUDistributedOptimizer(NPULossScaleOptimizer(inner, manager)),
        "outside": lambda inner, manager: NPULossScaleOptimizer(NPUDistributedOptimizer(inner), manager, is_distributed=True),
        "one optimizer": lambda inner, manager: NPUOptimizer(inner, manager, is_distributed=True, is_loss_scale=True),
    }


@pytest.mark.whole(beyond=3)
@pytest.mark.parametrize("nesting", ["inside", "outside", "one optimizer"])
def test_a_scale_that_overflows_is_skipped_and_lowered(mode, nesting):
    history, accuracy = trained(nestings()[nesting], half=True)
    scales, steps = [row[0] for row in history], [row[1] for row in history]
    n_skipped = sum(scale == 2.0**26 / 4 ** (i + 1) for i, scale in enumerate(scales))
    assert n_skipped >= 3 and steps == [0] * n_skipped + list(range(1, len(steps) - n_skipped + 1))
    assert len(set(scales[n_skipped - 1 :])) == 1, "it settles at a scale that fits"
    first = np.random.RandomState(1).randn(4, 8).astype(np.float32) * 0.3
    for _, _, weight in history[:n_skipped]:
        np.testing.assert_array_equal(weight, first)
    assert all(np.isfinite(weight).all() for _, _, weight in history) and not (history[-1][2] == first).any()
    _, wanted = trained(lambda inner, manager: inner, half=False, steps=len(steps) - n_skipped)
    assert accuracy >= wanted - 1 / 64 and wanted > 0.95


def test_both_modes_skip_the_same_steps():
    histories = {}
    for wanted in (0, 1):
        npu_plugin.set_device_sat_mode(wanted)
        try:
            histories[wanted] = [row[:2] for row in trained(nestings()["inside"], half=True, steps=12)[0]]
        finally:
            float_status.ask(None)
    assert histories[0] == histories[1]


def test_saturation_cuts_numbers_and_raises_the_status(graph):
    from npu_bridge.helper import helper

    ops = helper.get_gen_ops()
    x = tf.placeholder(tf.float16, [None])
    product = x * x
    with tf.control_dependencies([product]):
        status = ops.npu_get_float_status(ops.npu_alloc_float_status())
        with tf.control_dependencies([status]):
            cleared = ops.npu_clear_float_status(status)
            with tf.control_dependencies([cleared]):
                after = ops.npu_get_float_status(cleared)
    with tf.Session() as session:
        numbers, flag = session.run([product, status], {x: [300, -2]})
        assert np.isinf(numbers[0]) and flag.tolist() == [0] * 8  # infinities, as TensorFlow
        npu_plugin.set_device_sat_mode(0)
        try:
            numbers, flag, zero = session.run([product, status, after], {x: [300, -2]})
            assert numbers.tolist() == [65504, 4] and flag.tolist() == [1] + [0] * 7 and zero.tolist() == [0] * 8
            assert session.run(status, {x: [3, -2]}).tolist() == [0] * 8, "a step begins with a clear status"
        finally:
            float_status.ask(None)


def test_every_result_is_cut_also_where_kernels_could_be_fused(graph):
    x = tf.placeholder(tf.float16, [1 << 17])
    y = 1.0 / (x * x)
    npu_plugin.set_device_sat_mode(0)
    try:
        with tf.Session() as session:
            assert set(session.run(y, {x: np.full(1 << 17, 300)})) == {np.float16(1) / np.float16(65504)}
    finally:
        float_status.ask(None)


def mixed_precision(**more):
    from npu_bridge.npu_init import npu_config_proto

    config = npu_config_proto()
    parameters = config.graph_options.rewrite_options.custom_optimizers[0].parameter_map
    for name, value in {"precision_mode": "force_fp16", **more}.items():
        parameters[name].s = value.encode()
    return config


@pytest.mark.parametrize(("soc", "is_cut"), [("Ascend910A", True), ("Ascend910B2", False)])
def test_the_status_knows_of_overflows_inside_fused_kernels_on_all_threads(soc, is_cut, graph):
    from npu_bridge.helper import helper

    n_elements = 1 << 19
    ops = helper.get_gen_ops()
    x = tf.placeholder(tf.float32, [n_elements])
    result = 1.0 / (x * x + 1.0)
    with tf.control_dependencies([result]):
        status = ops.npu_get_float_status(ops.npu_alloc_float_status())
    with tf.Session(config=mixed_precision(soc=soc)) as session:
        for place in range(0, n_elements, n_elements // 8):  # one of 8 tiles, which either thread may take
            fed = np.ones(n_elements, np.float32)
            fed[place] = 300
            found, flag = session.run([result, status], {x: fed})
            assert found[place] == (np.float16(1) / np.float16(65504) if is_cut else 0) and flag[0] == is_cut
            assert session.run([result, status], {x: np.ones(n_elements)})[1][0] == 0


def test_a_step_whose_gradients_are_finite_is_skipped_when_the_status_tells_of_an_overflow(graph):
    """1 / 65504^2 instead of 1 / inf: no gradient shows it."""
    from npu_bridge.npu_init import ExponentialUpdateLossScaleManager, NPULossScaleOptimizer

    x = tf.placeholder(tf.float32, [4, 4])
    weight = tf.get_variable("w", initializer=2 * np.eye(4, dtype=np.float32))
    loss = tf.reduce_mean(1.0 / (1.0 + tf.matmul(x, weight)))
    manager = ExponentialUpdateLossScaleManager(2.0**4, 1000, decr_every_n_nan_or_inf=1, decr_ratio=0.5)
    step = tf.train.get_or_create_global_step()
    optimizer = NPULossScaleOptimizer(tf.train.GradientDescentOptimizer(0.1), manager)
    pairs = optimizer.compute_gradients(loss, [weight])
    train = optimizer.apply_gradients(pairs, step)
    with tf.Session(config=mixed_precision()) as session:
        session.run(tf.global_variables_initializer())
        loud, quiet = np.full([4, 4], 6e4, np.float32), np.ones([4, 4], np.float32)
        for fed, scale, n_steps in ((quiet, 16, 1), (loud, 8, 1), (loud, 4, 1), (quiet, 4, 2)):
            before = session.run(weight)
            gradient, _ = session.run([pairs[0][0], train], {x: fed})
            assert np.isfinite(gradient).all()
            assert session.run([manager.get_loss_scale(), step]) == [scale, n_steps]
            assert (session.run(weight) != before).any() == (fed is quiet)


def test_float_status_on_tensorflow_is_clear(plain_session):
    from npu_bridge.helper import helper

    ops = helper.get_gen_ops()
    status = ops.npu_get_float_status(ops.npu_alloc_float_status())
    assert plain_session.run([status, ops.npu_clear_float_status(status)])[0].tolist() == [0] * 8


@pytest.mark.parametrize("scope", ["", "apply_grads"])
def test_scripts_fetch_scale_and_status_by_the_names_of_the_real_package(npu_init_optimizers, scope):
    for wrap in npu_init_optimizers:
        with tf.Graph().as_default():
            weight = tf.get_variable("weight", initializer=1.0)
            optimizer = wrap(tf.train.GradientDescentOptimizer(0.1))
            gradients = optimizer.compute_gradients(weight * tf.placeholder_with_default(1.0, [], name="factor"))
            with tf.name_scope(scope or None):
                train = optimizer.apply_gradients(gradients)
            status = f"{scope}/overflow_status_reduce_all:0".lstrip("/")
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                assert session.run([status, "loss_scale:0", train])[:2] == [True, 2.0**10]
                assert session.run([status, "loss_scale:0", train], {"factor:0": np.inf})[:2] == [False, 2.0**10]


@pytest.fixture
def npu_init_optimizers():
    """Both kinds that scale the loss."""
    from npu_bridge.npu_init import ExponentialUpdateLossScaleManager, NPULossScaleOptimizer, NPUOptimizer

    def manager():
        return ExponentialUpdateLossScaleManager(2.0**10, 1000, decr_every_n_nan_or_inf=2, decr_ratio=0.5)

    return (
        lambda inner: NPULossScaleOptimizer(inner, manager()),
        lambda inner: NPUOptimizer(inner, manager(), is_loss_scale=True),
    )
