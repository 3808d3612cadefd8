"""Features of an Estimator, each used twice: by tf.estimator.Estimator on TensorFlow and by NPUEstimator on the device."""

from __future__ import annotations

import functools
import os
import re
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

from tests.shim.test_estimator import X, build, input_fn, once


def exportable(features, labels, mode):
    """Hooks read the step in the run that raises it, whichever comes first: here it is read first."""
    with tf.control_dependencies(tf.get_collection("global_step_read_op_cache")):
        spec = build(features, labels, mode)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return spec._replace(export_outputs={"serving_default": tf.estimator.export.PredictOutput(spec.predictions["logits"])})
    if mode == tf.estimator.ModeKeys.TRAIN:
        tf.summary.scalar("train_loss", spec.loss)
    return spec


SETTINGS = {"save_summary_steps": 5, "save_checkpoints_steps": 10, "log_step_count_steps": 5, "keep_checkpoint_max": 3}


def on_tensorflow(folder, warm=None, **settings):
    config = tf.ConfigProto()
    entry = config.graph_options.rewrite_options.custom_optimizers.add()
    entry.name = "NpuOptimizer"
    entry.parameter_map["use_off_line"].b = False
    run_config = tf.estimator.RunConfig(session_config=config, tf_random_seed=1, **{**SETTINGS, **settings})
    return tf.estimator.Estimator(exportable, str(folder), run_config, warm_start_from=warm)


def on_device(folder, warm=None, **settings):
    from npu_bridge.npu_init import NPUEstimator, NPURunConfig

    config = NPURunConfig(model_dir=str(folder), tf_random_seed=1, **{**SETTINGS, **settings})
    return NPUEstimator(exportable, config=config, warm_start_from=warm)


SIDES = {"tensorflow": on_tensorflow, "device": on_device}


def on_both(act, tmp_path, **settings):
    """Results of `act(estimator, folder)` for each side."""
    return [act(make(tmp_path / side, **settings), tmp_path / side) for side, make in SIDES.items()]


def variables(estimator):
    return {name: estimator.get_variable_value(name) for name in estimator.get_variable_names() if name != "global_step"}


def assert_same_variables(one, other, **tolerance):
    assert set(one) == set(other)
    for name, value in one.items():
        np.testing.assert_allclose(other[name], value, err_msg=name, **(tolerance or {"rtol": 1e-3, "atol": 1e-4}))


def checkpoints(folder):
    return sorted(int(m.group(1)) for name in os.listdir(folder) if (m := re.fullmatch(r"model\.ckpt-(\d+)\.index", name)))


def events(folder):
    """(tag, step) -> value of every scalar, without the rates that depend on the clock."""
    found = {}
    for path in sorted(Path(folder).glob("events.out*")):
        for event in tf.train.summary_iterator(str(path)):
            for value in event.summary.value:
                if not value.tag.startswith("global_step/sec"):
                    found[value.tag, event.step] = value.simple_value
    return found


def test_steps_checkpoints_and_events(tmp_path):
    def act(estimator, folder):
        estimator.train(input_fn, steps=12)
        estimator.train(input_fn, max_steps=25)
        estimator.train(input_fn, max_steps=25)  # nothing left to do
        result = estimator.evaluate(once, steps=2)
        predicted = [p["logits"] for p in estimator.predict(once)]
        return result, checkpoints(folder), events(folder), events(folder / "eval"), predicted, variables(estimator)

    theirs, ours = on_both(act, tmp_path)
    assert ours[0]["global_step"] == theirs[0]["global_step"] == 25 and ours[0]["accuracy"] == theirs[0]["accuracy"]
    assert ours[0]["loss"] == pytest.approx(theirs[0]["loss"], rel=1e-4)
    assert ours[1] == theirs[1] and len(ours[1]) == 3
    for one, other in zip(theirs[2:4], ours[2:4], strict=True):
        assert set(one) == set(other)
        for key, value in one.items():
            assert other[key] == pytest.approx(value, rel=1e-3, abs=1e-5), key
    np.testing.assert_allclose(ours[4], theirs[4], rtol=1e-3, atol=1e-4)
    assert_same_variables(theirs[5], ours[5])


def test_early_stopping(tmp_path):
    def act(estimator, folder):
        asked = []

        def enough():
            asked.append(len(asked))
            return len(asked) == 4

        hook = tf.estimator.experimental.make_early_stopping_hook(estimator, enough, run_every_secs=None, run_every_steps=3)
        estimator.train(input_fn, hooks=[hook], max_steps=60)
        stop_at = estimator.get_variable_value("global_step")
        os.makedirs(estimator.eval_dir(), exist_ok=True)
        for _ in range(3):
            estimator.evaluate(once)
        patience = tf.estimator.experimental.stop_if_no_decrease_hook(
            estimator, "loss", max_steps_without_decrease=-1, run_every_secs=None, run_every_steps=2
        )
        estimator.train(input_fn, hooks=[patience], max_steps=60)
        return stop_at, estimator.get_variable_value("global_step"), len(asked)

    theirs, ours = on_both(act, tmp_path)
    assert ours == theirs and ours[0] < 60


def test_best_exporter(tmp_path):
    def receiver():
        return tf.estimator.export.ServingInputReceiver(*[{"x": tf.placeholder(tf.float32, [None, 4])}] * 2)

    def act(estimator, folder):
        exporter = tf.estimator.BestExporter("best", receiver, exports_to_keep=2)
        train = tf.estimator.TrainSpec(input_fn, 30)
        result, _ = tf.estimator.train_and_evaluate(
            estimator, train, tf.estimator.EvalSpec(once, steps=None, exporters=[exporter], throttle_secs=0)
        )
        kept = sorted((folder / "export" / "best").iterdir())
        with tf.Graph().as_default(), tf.Session() as session:
            loaded = tf.saved_model.load(session, ["serve"], str(kept[-1])).signature_def["serving_default"]
            logits = session.run(loaded.outputs["output"].name, {loaded.inputs["x"].name: X})
        return result["global_step"], len(kept), logits

    theirs, ours = on_both(act, tmp_path)
    assert ours[:2] == theirs[:2] == (30, 2)
    np.testing.assert_allclose(ours[2], theirs[2], rtol=1e-3, atol=1e-4)


@pytest.mark.whole(beyond=1)
@pytest.mark.parametrize("chosen", [None, "dense/kernel"])
def test_warm_start(tmp_path, chosen):
    first = on_tensorflow(tmp_path / "first")
    first.train(input_fn, steps=10)
    warm = str(tmp_path / "first")
    if chosen:
        warm = tf.estimator.WarmStartSettings(warm, vars_to_warm_start=chosen)

    def act(estimator, folder):
        estimator.train(input_fn, steps=2)
        return variables(estimator)

    theirs, ours = on_both(functools.partial(act), tmp_path, warm=warm)
    assert_same_variables(theirs, ours)
    moved = np.abs(theirs["dense/kernel"] - first.get_variable_value("dense/kernel")).max()
    assert moved < 0.11, "two Adam steps away from where the first stopped"


def watching(seen):
    """A hook that keeps global step and a kernel after every run."""

    class Watch(tf.train.SessionRunHook):
        def after_run(self, run_context, run_values):
            step, kernel = run_context.session.run(["global_step:0", "dense/kernel:0"])
            seen.append((int(step), kernel))

    return Watch()


def test_ten_iterations_are_ten_steps(tmp_path):
    def act(estimator, folder):
        seen = []
        estimator.train(input_fn, hooks=[watching(seen)], max_steps=30)
        return seen, variables(estimator), checkpoints(folder)

    theirs = act(on_tensorflow(tmp_path / "tensorflow"), tmp_path / "tensorflow")
    ours = act(on_device(tmp_path / "device", iterations_per_loop=10), tmp_path / "device")
    assert [step for step, _ in theirs[0]] == list(range(1, 31)) and [step for step, _ in ours[0]] == [10, 20, 30]
    for (_, ours_kernel), (_, their_kernel) in zip(ours[0], theirs[0][9::10], strict=True):
        np.testing.assert_allclose(ours_kernel, their_kernel, rtol=1e-3, atol=1e-4)
    assert_same_variables(theirs[1], ours[1])
    assert ours[2][-2:] == theirs[2][-2:] == [20, 30]
