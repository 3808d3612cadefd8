"""Operators of a training step that the chip has one operator for, on graphs that TensorFlow built."""

from __future__ import annotations

import pytest
import tensorflow.compat.v1 as tf

from npu_runtime.lowering.lower import LoweredTask
from tests.lowering.lowered import lowered, types


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def _normalized() -> tf.Tensor:
    return tf.layers.batch_normalization(tf.placeholder(tf.float32, [8, 32, 32, 16]), training=True, fused=True, name="bn")


def _trained(optimizer: tf.train.Optimizer, scale: float = 1.0) -> tf.Operation:
    """A dense layer with weight decay, whose gradients are scaled."""
    x, w = tf.placeholder(tf.float32, [64, 32]), tf.get_variable("w", [32, 16])
    loss = tf.reduce_sum(tf.square(tf.matmul(x, w))) + 1e-4 * tf.add_n([tf.nn.l2_loss(w), tf.constant(1.0)])
    return optimizer.apply_gradients([(tf.gradients(loss, [w])[0] * scale, w)])


_OWN_TYPES = "must_keep_origin_dtype"
"""Without mixed precision no conversion stands between the operators."""


def _flat(tasks: list[LoweredTask]) -> list[str]:
    return [kind for task in types(tasks) for kind in task.split("+")]


def test_a_normalisation_moves_its_averages_itself():
    net = _normalized()
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        tasks = lowered([tf.identity(net)])
    assert _flat(tasks) == ["BNTrainingReduce", "BNTrainingUpdate"]
    [update] = [op for task in tasks for op in task.ops if op.op_type == "BNTrainingUpdate"]
    assert {"bn/AssignMovingAvg", "bn/AssignMovingAvg_1"} <= set(update.members)
    assert sum(t.storage.is_variable for t in update.inputs) == 4


def test_averages_of_which_one_is_moved_otherwise_stay_as_they_are():
    net = _normalized()
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)[:1]):
        assert "AssignSub" in _flat(lowered([tf.identity(net)]))


def test_a_step_of_an_average_that_is_fetched_is_made():
    net = _normalized()
    step = tf.get_default_graph().get_tensor_by_name("bn/AssignMovingAvg/mul:0")
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        assert "AssignSub" in _flat(lowered([tf.identity(net), step]))


def test_weight_decay_adds_to_the_gradient_and_the_loss_in_one_operator():
    x, w = tf.placeholder(tf.float32, [64, 32]), tf.get_variable("w", [32, 16])
    other = tf.get_variable("other", [32, 16])
    loss = tf.reduce_sum(tf.square(tf.matmul(x, w))) + 1e-4 * tf.add_n([tf.nn.l2_loss(w), tf.nn.l2_loss(other)])
    train = tf.train.GradientDescentOptimizer(0.1).apply_gradients([(tf.gradients(loss, [w])[0], w)])
    kinds = _flat(lowered([train, loss], mode=_OWN_TYPES))
    assert kinds.count("FusedMulAddNL2loss") == 1
    assert kinds.count("L2Loss") == 1, "the other variable is not trained"


def test_a_gradient_that_waits_for_the_decay_keeps_it_apart():
    """One operator would have to run before itself."""
    x, w = tf.placeholder(tf.float32, [64, 32]), tf.get_variable("w", [32, 16])
    decay = tf.add_n([tf.nn.l2_loss(w), tf.nn.l2_loss(tf.get_variable("other", [32, 16]))])
    gradient = tf.add_n([w * 1e-4, tf.matmul(x, tf.matmul(x, w), transpose_a=True) * decay])
    tasks = lowered([tf.train.GradientDescentOptimizer(0.1).apply_gradients([(gradient, w)]), decay], mode=_OWN_TYPES)
    assert "FusedMulAddNL2loss" not in _flat(tasks)


def test_momentum_takes_a_scaled_gradient_as_it_is():
    kinds = _flat(lowered([_trained(tf.train.MomentumOptimizer(0.1, 0.9), 1 / 1024)], mode=_OWN_TYPES))
    assert "FusedMulApplyMomentum" in kinds and "ApplyMomentumD" not in kinds


def test_an_update_behind_an_unscaled_gradient_keeps_its_name():
    x, w = tf.placeholder(tf.float32, [64, 32]), tf.get_variable("w", [32, 16])
    gradient = tf.gradients(tf.reduce_sum(tf.tanh(tf.matmul(x, w))), [w])[0]
    train = tf.train.MomentumOptimizer(0.1, 0.9).apply_gradients([(gradient, w)])
    assert "ApplyMomentumD" in _flat(lowered([train], mode=_OWN_TYPES))


def test_every_task_comes_behind_those_it_reads_from():
    tasks = lowered([_trained(tf.train.MomentumOptimizer(0.1, 0.9), 1 / 1024)], mode=_OWN_TYPES)
    made: set[object] = set()
    for task in tasks:
        assert all(t.producer is None or t in made or t.producer in task.ops for t in task.read)
        made.update(t for op in task.ops for t in op.outputs)
