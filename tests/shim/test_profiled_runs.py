"""Scripts that have their runs profiled, in each of the ways that there are, and what the files say of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.profiler import reader

MODEL = """
    from npu_bridge.npu_init import *
    import tensorflow as tf, numpy as np
    from tensorflow.core.protobuf.rewriter_config_pb2 import RewriterConfig
    OPTIONS = {options!r}
    x, y = tf.placeholder(tf.float32, [None, 64]), tf.placeholder(tf.int32, [None])
    hidden = tf.layers.dense(x, 48, tf.nn.relu, name="first")
    loss = tf.losses.sparse_softmax_cross_entropy(y, tf.layers.dense(hidden, 10, name="second"))
    train = tf.train.AdamOptimizer(1e-3).minimize(loss)
    config = tf.ConfigProto()
    custom = config.graph_options.rewrite_options.custom_optimizers.add()
    custom.name = "NpuOptimizer"
"""
STEPS = """
    with tf.Session(config=config) as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            value, _ = session.run([loss, train], {x: np.ones([32, 64]), y: np.zeros([32], int)})
    print("loss", value)
"""
IN_SESSION = """
    custom.parameter_map["profiling_mode"].b = True
    custom.parameter_map["profiling_options"].s = tf.compat.as_bytes(OPTIONS)
"""
ALL = {"training_trace": "on", "task_trace": "on", "aicpu": "on"}


def _options(folder: Path, **keys: str) -> str:
    folder.mkdir(exist_ok=True)
    return json.dumps({"output": str(folder), **ALL, **keys})


def _check_steps(profile: reader.Profile, n_steps: int) -> list[dict[str, str]]:
    """The steps of the training model, which is the one with passes; all files read strictly."""
    reader.check_tables(profile)
    reader.check_summary(profile, "PipeUtilization")
    reader.check_steps(profile)
    reader.check_timeline(profile.events())
    reader.check_raw(profile, 0)
    steps = [row for row in profile.table("step_trace") if row["FP Start(us)"] != "N/A"]
    assert [row["Iteration ID"] for row in steps] == [str(n + 1) for n in range(n_steps)]
    return steps


def _only(folder: Path) -> reader.Profile:
    (made,) = folder.iterdir()
    return reader.Profile(made)


def test_the_session_option_profiles_every_step(fresh, tmp_path):
    done = fresh(MODEL.format(options=_options(tmp_path / "out")) + IN_SESSION + STEPS)
    profile = _only(tmp_path / "out")
    assert f"the profile is in {profile.folder}" in done.stderr
    _check_steps(profile, 3)
    types = {row["OP Type"] for row in profile.table("op_summary")}
    assert {"MatMulV2", "ApplyAdam"} <= types
    models = {row["Model ID"]: row for row in profile.table("step_trace")}
    assert len(models) == 2 and models["1"]["BP End(us)"] == "N/A"  # the initializer has no passes


def test_the_environment_profiles_and_makes_the_folder(fresh, tmp_path):
    options = json.dumps({"output": str(tmp_path / "new"), **ALL})
    fresh(MODEL.format(options="") + STEPS, PROFILING_MODE="true", PROFILING_OPTIONS=options)
    _check_steps(_only(tmp_path / "new"), 3)


def test_an_estimators_configuration_profiles(fresh, tmp_path):
    """Listing 5-55 of the textbook: ProfilingConfig in NPURunConfig."""
    source = f"""
        from npu_bridge.npu_init import *
        import tensorflow as tf, numpy as np
        options = {_options(tmp_path / "out")!r}
        def inputs():
            data = np.ones([64, 16], np.float32), np.zeros([64], np.int32)
            return tf.data.Dataset.from_tensor_slices(data).repeat().batch(16, drop_remainder=True)
        def model(features, labels, mode):
            loss = tf.losses.sparse_softmax_cross_entropy(labels, tf.layers.dense(features, 4))
            train = tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step())
            return NPUEstimatorSpec(mode, loss=loss, train_op=train)
        profiling = ProfilingConfig(enable_profiling=True, profiling_options=options)
        config = NPURunConfig(model_dir={str(tmp_path / "model")!r}, profiling_config=profiling, save_checkpoints_steps=100)
        NPUEstimator(model, config=config).train(inputs, steps=4)
    """
    fresh(source)
    (profile,) = (tmp_path / "out").iterdir()
    rows = [row for row in reader.Profile(profile).table("step_trace") if row["FP Start(us)"] != "N/A"]
    assert len(rows) == 4


def test_a_block_profiles_what_runs_inside_of_it(fresh, tmp_path):
    inside = """
    from npu_bridge.profiler.profiler import Profiler
    with tf.Session(config=config) as session:
        session.run(tf.global_variables_initializer())
        feeds = {x: np.ones([32, 64]), y: np.zeros([32], int)}
        session.run(train, feeds)
        with Profiler(level="L1", output_path=OPTIONS):
            session.run(train, feeds), session.run(train, feeds)
        session.run(train, feeds)
    """
    fresh(MODEL.format(options=str(tmp_path / "out")) + inside)
    _check_steps(_only(tmp_path / "out"), 2)


def test_two_runs_have_the_same_device_times(fresh, tmp_path):
    tables = []
    for name in ("one", "two"):
        fresh(MODEL.format(options=_options(tmp_path / name)) + IN_SESSION + STEPS)
        tables.append(_only(tmp_path / name).table("op_summary"))
    durations = [[(row["Op Name"], row["Task Duration(us)"], row["Task Wait Time(us)"]) for row in rows] for rows in tables]
    assert durations[0] == durations[1] and len(durations[0]) > 30


def test_without_profiling_not_a_byte_is_written(fresh, tmp_path):
    fresh(f"import os; os.chdir({str(tmp_path)!r})\n" + __import__("textwrap").dedent(MODEL.format(options="") + STEPS))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"fp_point": "frist/MatMul"}, ["frist/MatMul", "first/MatMul"]),
        ({"task_trace": "yes"}, ["task_trace"]),
        ({"unknown_key": "on"}, ["unknown_key"]),
    ],
)
def test_a_wrong_option_is_told_in_one_line_and_training_goes_on(fresh, tmp_path, options, told):
    done = fresh(MODEL.format(options=_options(tmp_path / "out", **options)) + IN_SESSION + STEPS)
    assert "loss" in done.stdout
    assert any(all(word in line for word in told) for line in done.stderr.splitlines()), done.stderr
    assert "Traceback" not in done.stderr


def test_an_output_that_is_missing_is_told_and_training_goes_on(fresh, tmp_path):
    options = json.dumps({"output": str(tmp_path / "missing"), **ALL})
    done = fresh(MODEL.format(options=options) + IN_SESSION + STEPS)
    assert "loss" in done.stdout and "Traceback" not in done.stderr
    assert any(str(tmp_path / "missing") in line and "no profile" in line for line in done.stderr.splitlines())


def test_options_that_are_broken_over_lines_are_read_with_a_warning(fresh, tmp_path):
    text = _options(tmp_path / "out", fp_point="first/MatMul")
    broken = text.replace("first/MatMul", "first/Mat\n    Mul")
    done = fresh(MODEL.format(options=broken) + IN_SESSION + STEPS)
    _check_steps(_only(tmp_path / "out"), 3)
    assert any("fp_point" in line for line in done.stderr.splitlines())
