"""A training whose every step overflows under a loss scale that cannot fall never ends on a host; here it does, and says so."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from npu_bridge import _environment, _log

from benchmarks.migrated.outcome import read
from npu_runtime.device import float_status
from npu_runtime.session import run_log

START, LARGE, SMALL = 300.0, 1024.0, 1.0  # START * LARGE is beyond fp16; in fp32, and times SMALL, it is not
STUCK = "on a host the training never ends"


@pytest.fixture(autouse=True)
def said(monkeypatch, capsys):
    monkeypatch.setenv("JOB_ID", "1")
    monkeypatch.setattr(_environment, "was_set", set())
    _log._said.clear()
    run_log().clear()
    yield lambda: capsys.readouterr().err
    float_status.ask(None)
    float_status.overflows.clear()


def fixed(scale=LARGE):
    from npu_bridge.npu_init import FixedLossScaleManager

    return lambda: FixedLossScaleManager(scale)


def train_op(x, manager, spell="inside"):
    """d(w x)/dw = x, summed over the batch: w falls by a thousandth of x a step."""
    from npu_bridge.npu_init import NPULossScaleOptimizer, NPUOptimizer

    weight = tf.get_variable("w", initializer=[[1.0]])
    loss = tf.reduce_sum(tf.matmul(x, weight))
    inner = tf.train.GradientDescentOptimizer(1e-3)
    if spell == "one optimizer":
        optimizer = NPUOptimizer(inner, manager(), is_loss_scale=True)
    else:
        optimizer = NPULossScaleOptimizer(inner, manager())
    return loss, optimizer.minimize(loss, tf.train.get_or_create_global_step())


def trained(folder, manager, values=(START,), steps=3, spell="inside", **options):
    """An NPUEstimator trained for some steps: how often a step was tried, the global step and the weight."""
    from npu_bridge.npu_init import NPUEstimator, NPURunConfig

    class Count(tf.train.SessionRunHook):
        n = 0

        def after_run(self, run_context, run_values):
            Count.n += 1

    def model_fn(features, labels, mode, params):
        loss, train = train_op(features, manager, spell)
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train, training_hooks=[Count()])

    def input_fn():
        return tf.data.Dataset.from_tensor_slices(np.array(values, np.float32).reshape(-1, 1, 1)).repeat()

    config = NPURunConfig(precision_mode="allow_mix_precision", save_summary_steps=0, **options)
    estimator = NPUEstimator(model_fn, str(folder), config)
    estimator.train(input_fn, max_steps=steps)
    return Count.n, int(estimator.get_variable_value("global_step")), float(estimator.get_variable_value("w")[0, 0])


@pytest.mark.parametrize("spell", ["inside", "one optimizer"])
def test_an_estimator_gets_out_with_one_warning(spell, said, tmp_path):
    tried, steps, weight = trained(tmp_path, fixed(), spell=spell)
    assert (tried, steps) == (20 + 3, 3) and weight == pytest.approx(1 - 3 * START / 1000, rel=1e-6)
    text = said()
    assert text.count(STUCK) == 1 and f"({__file__}:" in text and "must_keep_origin_dtype" in text
    assert any("from run 21 of a training on" in line for line in run_log().document()["precision"])
    last_block = [f"npu_runtime: {line}" for line in run_log().digest()]
    found = read(0, 1.0, "\n".join(["loss: 9.5", text, "loss: 8.5", *last_block]))
    assert found.losses == (8.5,) and found.changed[0].startswith("the types of the graph from run 21 of a training on")


def test_offloaded_iterations_get_out_too(said, tmp_path):
    tried, steps, _ = trained(tmp_path, fixed(), steps=4, iterations_per_loop=2)
    assert (tried, steps) == (20 + 2, 4) and STUCK in said()


def mixed_precision():
    from npu_bridge.npu_init import npu_config_proto

    config = npu_config_proto(tf.ConfigProto())
    (entry,) = config.graph_options.rewrite_options.custom_optimizers
    entry.parameter_map["precision_mode"].s = b"allow_mix_precision"
    return config


def test_a_tpu_estimator_gets_out_too(said, tmp_path):
    tpu = tf.contrib.tpu

    def model_fn(features, labels, mode, params):
        loss, train = train_op(features, fixed())
        return tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train)

    config = tpu.RunConfig(model_dir=str(tmp_path), session_config=mixed_precision())
    estimator = tpu.TPUEstimator(model_fn, config=config, use_tpu=False, train_batch_size=1)
    estimator.train(lambda params: tf.data.Dataset.from_tensors(np.full([1, 1], START, np.float32)).repeat(), max_steps=2)
    assert int(estimator.get_variable_value("global_step")) == 2 and said().count(STUCK) == 1


def test_strict_mode_stops(said, tmp_path, monkeypatch):
    monkeypatch.setenv("TF2NPU_STRICT", "1")
    with pytest.raises(RuntimeError, match="never ends: each of the last 20 runs had a result too large for 16 bits"):
        trained(tmp_path, fixed())


def test_a_lowered_scale_gets_out_by_itself(said, tmp_path):
    from npu_bridge.npu_init import ExponentialUpdateLossScaleManager

    tried, steps, _ = trained(tmp_path, lambda: ExponentialUpdateLossScaleManager(2.0**20, 1000, 1, decr_ratio=0.8))
    fits = next(n for n in range(100) if 2.0**20 * 0.8**n * START < 65520)
    assert fits > 25 and (tried, steps) == (fits + 3, 3)
    assert STUCK not in said() and not any("types of the graph from" in line for line in run_log().digest())


def test_a_training_that_overflows_now_and_then_is_left_alone(said, tmp_path):
    tried, steps, _ = trained(tmp_path, fixed(), values=(START,) * 18 + (1.0,), steps=3)
    assert (tried, steps) == (3 * 19, 3) and STUCK not in said()
    assert not any("types of the graph from" in line for line in run_log().digest())


def masked(manager, steps=3):
    """The runs tried by a training with a mask of -1e9 that is put on in fp16: its own gradients fit in every step."""
    tried = [0]

    class Count(tf.train.SessionRunHook):
        def after_run(self, run_context, run_values):
            tried[0] += 1

    with tf.Graph().as_default():
        weight = tf.get_variable("w", initializer=[[1.0]])
        mask = tf.get_variable("mask", initializer=[[0, -1e9]], trainable=False)
        chosen = tf.nn.softmax(tf.matmul(tf.ones([1, 1]), weight) + mask)
        loss = tf.reduce_sum(chosen * tf.matmul(tf.ones([1, 1]), weight))
        train = wrapped(tf.train.GradientDescentOptimizer(1e-3), manager).minimize(loss, tf.train.get_or_create_global_step())
        hooks = [tf.train.StopAtStepHook(steps), Count()]
        with tf.train.MonitoredTrainingSession(hooks=hooks, config=mixed_precision()) as session:
            while not session.should_stop():
                session.run(train)
    return tried[0]


def wrapped(inner, manager):
    from npu_bridge.npu_init import NPULossScaleOptimizer

    return NPULossScaleOptimizer(inner, manager())


def test_a_mask_that_a_chip_cuts_overflows_under_every_scale(said):
    """In infinity mode nothing shows but the run log; in saturation mode no step is applied, also when the scale is down to 1."""
    from npu_bridge.npu_init import ExponentialUpdateLossScaleManager

    def falling():
        return ExponentialUpdateLossScaleManager(2.0**25, 1000, 1, decr_ratio=0.5)

    float_status.ask(False)
    assert masked(falling) == 10 + 3 and STUCK not in said(), "the gradients fit from 2^15 on"
    float_status.ask(None)
    assert masked(falling) == 40 + 3, "asked at the 20th run, whose scale could fall, and at the 40th"
    text = said()
    assert text.count(STUCK) == 1 and "has come down to 1" in text and "masks of -10000" in text


def test_overflow_of_what_no_gradient_comes_through_is_left_alone(said):
    """A step may stay while gradients are summed up, and a mask overflow in each run: the optimizer itself says it skips none."""
    float_status.ask(False)
    with tf.Graph().as_default():
        loud = tf.get_variable("loud", initializer=[[START]], trainable=False)
        mask = tf.matmul(loud, loud)
        _, train = train_op(tf.ones([1, 1]), fixed(SMALL))
        tried = tf.get_variable("tried", initializer=0, trainable=False)
        count = tf.assign_add(tried, 1)
        with tf.train.MonitoredTrainingSession(hooks=[tf.train.StopAtStepHook(2)], config=mixed_precision()) as session:
            for _ in range(50):
                session.run([mask, count])
            before = session.run(tried)
            while not session.should_stop():
                session.run([mask, train])
    assert before == 50 and STUCK not in said()
    assert sum(float_status.overflows.values()) >= 50 + 2


def test_a_session_that_is_ended_by_its_data_is_left_alone(said, tmp_path):
    with tf.Graph().as_default():
        data = tf.data.Dataset.from_tensors(np.full([1, 1], START, np.float32)).repeat(30)
        _, train = train_op(data.make_one_shot_iterator().get_next(), fixed())
        with tf.train.MonitoredTrainingSession(config=mixed_precision()) as session:
            step = 0
            while not session.should_stop():
                step = session.run([train, tf.train.get_global_step()])[1]
    assert step == 0 and STUCK not in said()
