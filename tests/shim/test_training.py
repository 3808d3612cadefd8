"""Optimizers and loss scaling against the inner optimizer under plain TensorFlow."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

START = np.array([1.0, -2.0, 3.0], np.float32)


def problem():
    """A quadratic with one variable that has no gradient and one whose gradient is IndexedSlices."""
    dense = tf.get_variable("dense", initializer=START)
    table = tf.get_variable("table", initializer=np.arange(8, dtype=np.float32).reshape(4, 2))
    tf.get_variable("unused", initializer=1.0)
    loss = tf.reduce_sum(tf.square(dense - 0.5)) + tf.reduce_sum(tf.square(tf.gather(table, [1, 1, 3])))
    return loss


def trained(make_optimizer, steps=5):
    """The trainable variables and the global step after some steps."""
    with tf.Graph().as_default():
        loss = problem()
        step = tf.train.get_or_create_global_step()
        optimizer = make_optimizer()
        train = optimizer.apply_gradients(optimizer.compute_gradients(loss, tf.trainable_variables()), step)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for _ in range(steps):
                session.run(train)
            return session.run([*tf.trainable_variables(), step]), optimizer


def wrappers():
    from npu_bridge.npu_init import (
        ExponentialUpdateLossScaleManager,
        FixedLossScaleManager,
        NPUDistributedOptimizer,
        NPULossScaleOptimizer,
        NPUOptimizer,
        npu_distributed_optimizer_wrapper,
        npu_tf_optimizer,
    )

    def fixed():
        return FixedLossScaleManager(1024.0)

    def growing():
        return ExponentialUpdateLossScaleManager(2**10, 2, 2, 2, 0.5)

    return {
        "distributed": NPUDistributedOptimizer,
        "helper": npu_tf_optimizer,
        "wrapped in place": npu_distributed_optimizer_wrapper,
        "fixed scale": lambda inner: NPULossScaleOptimizer(inner, fixed()),
        "growing scale": lambda inner: NPULossScaleOptimizer(inner, growing(), is_distributed=True),
        "no overflow check": lambda inner: NPULossScaleOptimizer(inner, FixedLossScaleManager(8.0, False)),
        "scale outside": lambda inner: NPULossScaleOptimizer(NPUDistributedOptimizer(inner), growing()),
        "scale inside": lambda inner: NPUDistributedOptimizer(NPULossScaleOptimizer(inner, growing())),
        "both jobs": lambda inner: NPUOptimizer(inner, growing(), is_distributed=True, is_loss_scale=True),
        "neither job": NPUOptimizer,
    }


WRAPPERS = (
    "distributed", "helper", "wrapped in place", "fixed scale", "growing scale", "no overflow check", "scale outside",
    "scale inside", "both jobs", "neither job",
)  # fmt: skip


@pytest.mark.whole(beyond=8)
@pytest.mark.parametrize("name", WRAPPERS)
@pytest.mark.parametrize("inner", [lambda: tf.train.AdamOptimizer(0.1), lambda: tf.train.MomentumOptimizer(0.1, 0.9)])
def test_a_wrapped_optimizer_trains_as_the_inner_one(name, inner):
    ours, optimizer = trained(lambda: wrappers()[name](inner()))
    theirs, plain = trained(inner)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-7)
    assert isinstance(optimizer, tf.train.Optimizer)
    assert optimizer.get_slot_names() == plain.get_slot_names() and len(optimizer.variables()) >= len(plain.variables())


def test_minimize_and_slots(graph):
    from npu_bridge.npu_init import NPUDistributedOptimizer

    variable = tf.get_variable("v", initializer=START)
    optimizer = NPUDistributedOptimizer(tf.train.MomentumOptimizer(0.1, 0.9))
    optimizer.minimize(tf.reduce_sum(variable * variable))
    assert optimizer.get_slot(variable, "momentum") is not None and optimizer.get_name() == "DistributedMomentumOptimizer"


def overflowing(manager, fed, steps):
    """Runs steps whose gradient is the fed value; what the scale, the variable and the global step were after each."""
    from npu_bridge.npu_init import NPULossScaleOptimizer

    gradient = tf.placeholder(tf.float32, [])
    variable = tf.get_variable("v", initializer=0.0)
    optimizer = NPULossScaleOptimizer(tf.train.GradientDescentOptimizer(1.0), manager)
    step = tf.train.get_or_create_global_step()
    train = optimizer.minimize(variable * gradient, step)
    history = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for value in fed:
            session.run(train, {gradient: value})
            history.append([float(v) for v in session.run([manager.get_loss_scale(), variable, step])])
    return history


def test_overflow_skips_the_update_and_lowers_the_scale(graph):
    from npu_bridge.npu_init import ExponentialUpdateLossScaleManager

    manager = ExponentialUpdateLossScaleManager(
        16.0, incr_every_n_steps=3, decr_every_n_nan_or_inf=2, incr_ratio=4, decr_ratio=0.5
    )
    inf, nan = float("inf"), float("nan")
    history = overflowing(manager, [1, 1, inf, 1, nan, inf, 1, 1, 1, 1], 10)
    assert [row[0] for row in history] == [16, 16, 16, 16, 8, 8, 8, 8, 32, 32]  # good steps leave the bad ones counted
    assert [row[1] for row in history] == [-1, -2, -2, -3, -3, -3, -4, -5, -6, -7]
    assert [row[2] for row in history] == [1, 2, 2, 3, 3, 3, 4, 5, 6, 7]


def test_the_scale_stays_between_one_and_the_largest_number(graph):
    from npu_bridge.npu_init import ExponentialUpdateLossScaleManager

    low = ExponentialUpdateLossScaleManager(1.5, 2, 1, 2, 0.1)
    assert overflowing(low, [float("inf")] * 2, 2)[-1][0] == 1.0
    with tf.Graph().as_default():
        high = ExponentialUpdateLossScaleManager(3e38, 1, 1, 2, 0.5)
        assert overflowing(high, [0.0], 1)[-1][0] == pytest.approx(3e38)


def test_scale_follows_tensorflow_1_15(graph):
    """The series that tf.contrib.mixed_precision.ExponentialUpdateLossScaleManager of genuine TensorFlow 1.15.0 gave."""
    from npu_bridge.npu_init import ExponentialUpdateLossScaleManager

    manager = ExponentialUpdateLossScaleManager(16.0, 2, 3, 2, 0.25)
    finite = tf.placeholder(tf.bool, [])
    update = manager.update_loss_scale(finite)
    fed = [1, 1, 0, 1, 0, 0, 1, 0, 1, 1, 0, 0, 0]
    series = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for value in fed:
            session.run(update, {finite: bool(value)})
            series.append(float(session.run(manager.get_loss_scale())))
    assert series == RECORDED


RECORDED = [16.0, 32.0, 32.0, 32.0, 32.0, 8.0, 8.0, 8.0, 8.0, 16.0, 16.0, 16.0, 4.0]


def test_misuse(graph, monkeypatch):
    from npu_bridge.npu_init import FixedLossScaleManager, NPUDistributedOptimizer, NPULossScaleOptimizer, NPUOptimizer

    with pytest.raises(ValueError, match="at least 1"):
        FixedLossScaleManager(0.5)
    with pytest.raises(ValueError, match="loss_scale_manager"):
        NPUOptimizer(tf.train.AdamOptimizer(), is_loss_scale=True)
    with pytest.raises(ValueError, match="Optimizer"):
        NPULossScaleOptimizer("adam", FixedLossScaleManager(2.0))
    monkeypatch.setenv("RANK_SIZE", "8")
    variable = tf.get_variable("v", initializer=1.0)
    with pytest.raises(ValueError, match="cannot divide"):
        NPUDistributedOptimizer(tf.train.AdamOptimizer(), is_weight_update_sharding=True).compute_gradients(variable * 2.0)
    with pytest.raises(RuntimeError, match="RANK_SIZE=8, but nobody has started the other ranks"):
        NPUDistributedOptimizer(tf.train.AdamOptimizer()).compute_gradients(variable * 2.0)


def test_attributes_of_the_inner_optimizer(graph):
    from npu_bridge.npu_init import FixedLossScaleManager, NPULossScaleOptimizer

    optimizer = NPULossScaleOptimizer(tf.train.AdamOptimizer(0.25), FixedLossScaleManager(2.0))
    assert optimizer._lr == 0.25
    assert not hasattr(optimizer, "no_such_name")


def test_npu_allreduce_takes_tensors_slices_and_lists(plain_session):
    from npu_bridge.npu_init import npu_allreduce

    x = tf.constant([1.0, 2.0])
    slices = tf.IndexedSlices(tf.constant([[1.0, 2.0]]), tf.constant([3]), tf.constant([5, 2]))
    assert plain_session.run(npu_allreduce(x)).tolist() == [1, 2]
    reduced = npu_allreduce([x, slices], "sum")
    assert isinstance(reduced, list) and isinstance(reduced[1], tf.IndexedSlices)
    assert plain_session.run(reduced[1].values).tolist() == [[1, 2]]
    with pytest.raises(ValueError, match="reduction"):
        npu_allreduce(x, "median")


def test_gradients_are_divided_fairly():
    from npu_bridge.estimator.npu import util

    with tf.Graph().as_default():
        variables = [tf.get_variable(f"v{i}", [size]) for i, size in enumerate((100, 1, 1, 98, 100, 50))]
        gradients = [tf.zeros(v.shape) for v in variables]
        pairs = [*zip(gradients, variables, strict=True), (None, variables[0])]
        util.add_grads_and_vars(pairs, 3)
        ranks = [util.get_gid_by_grad(gradient) for gradient in gradients]
        assert ranks == sorted(ranks) and set(ranks) == {0, 1, 2}
        assert util.get_gid_by_weight(variables[-1]) == 2 and len(util.get_all_grad_item()) == 6
        with pytest.raises(ValueError):
            util.add_grads_and_vars(pairs, 7)


@pytest.mark.parametrize("steps", [1, 4])
def test_iterations_per_loop_are_so_many_steps(graph, steps):
    from npu_bridge.estimator.npu import util

    dataset = tf.data.Dataset.from_tensor_slices(np.arange(1.0, 41.0, dtype=np.float32)).repeat()
    batch = tf.data.make_one_shot_iterator(dataset).get_next()
    total = tf.get_variable("total", initializer=0.0)
    step = tf.train.get_or_create_global_step()
    with tf.control_dependencies([tf.assign_add(total, batch)]):
        train = tf.assign_add(step, 1).op
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        loop = util.set_iteration_per_loop(session, train, steps)
        assert (loop is train) == (steps == 1)
        for _ in range(3):
            session.run(loop)
        assert session.run([step, total]) == [3 * steps, sum(range(1, 3 * steps + 1))]
        _, now = session.run([loop.name, step])
        assert session.run(step) == 4 * steps and now in (4 * steps - 1, 4 * steps)


def test_a_session_that_stays_on_tensorflow_does_one_step(plain_session):
    from npu_bridge.estimator.npu import util

    step = tf.train.get_or_create_global_step()
    loop = util.IterationPerLoop()
    train = loop.create_iteration_per_loop_var(tf.assign_add(step, 1).op)
    plain_session.run(tf.global_variables_initializer())
    loop.load_iteration_per_loop_var(plain_session, 5)
    plain_session.run(train)
    assert plain_session.run(step) == 1


def test_iterations_in_a_monitored_session(graph):
    from npu_bridge.npu_init import SetIterationsVarHook, util

    step = tf.train.get_or_create_global_step()
    train = util.IterationPerLoop().create_iteration_per_loop_var(tf.assign_add(step, 1).op)
    with tf.train.MonitoredTrainingSession(hooks=[SetIterationsVarHook(5)]) as session:
        session.run(train)
        session.run(train)
        assert session.run(step) == 10


def test_misuse_of_iterations(graph):
    from npu_bridge.estimator.npu import util

    train = tf.no_op()
    with tf.Session() as session:
        for arguments, error in (
            ((session, tf.constant(1), 2), ValueError), ((session, train, 0), ValueError), ((session, train, 2.0), TypeError),
        ):  # fmt: skip
            with pytest.raises(error):
                util.set_iteration_per_loop(*arguments)
        with pytest.raises(RuntimeError):
            util.IterationPerLoop().load_iteration_per_loop_var(session, 2)
        graph.finalize()
        with pytest.raises(RuntimeError, match="finalized"):
            util.set_iteration_per_loop(session, train, 2)
