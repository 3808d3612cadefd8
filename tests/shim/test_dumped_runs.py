"""Scripts that dump: by the options of a session, by DumpConfig, and by the launcher, on one device and on several."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

from npu_formats.vendor.dump_file import read_header
from tests.fork_server import tf2npu
from tests.shim.conftest import plain_environment

LENET = """
    from npu_bridge.npu_init import *
    import tensorflow as tf, numpy as np, sys
    from tensorflow.core.protobuf.rewriter_config_pb2 import RewriterConfig
    tf.set_random_seed(1)
    def network(images):
        hidden = tf.layers.conv2d(images, 6, 5, activation=tf.nn.relu, name="conv1")
        hidden = tf.layers.max_pooling2d(hidden, 2, 2)
        return tf.layers.dense(tf.layers.flatten(hidden), 10, name="fc")
    draw = np.random.RandomState(0)
    images, labels = draw.rand(64, 28, 28, 1).astype(np.float32), draw.randint(0, 10, 64)
"""
SESSION = """
    x, y = tf.placeholder(tf.float32, [None, 28, 28, 1]), tf.placeholder(tf.int32, [None])
    loss = tf.losses.sparse_softmax_cross_entropy(y, network(x))
    train = tf.train.AdamOptimizer(1e-3).minimize(loss)
    config = tf.ConfigProto()
    custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
    custom_op.name = "NpuOptimizer"
    {options}
    config.graph_options.rewrite_options.remapping = RewriterConfig.OFF
    with tf.Session(config=config) as session:
        session.run(tf.global_variables_initializer())
        for _ in range(11):
            value, _ = session.run([loss, train], {{x: images[:8], y: labels[:8]}})
    print("loss", value)
"""
LISTING = """
    custom_op.parameter_map["enable_dump"].b = True
    custom_op.parameter_map["dump_path"].s = tf.compat.as_bytes(sys.argv[1])
    custom_op.parameter_map["dump_step"].s = tf.compat.as_bytes("0|5|10")
    custom_op.parameter_map["dump_mode"].s = tf.compat.as_bytes("all")
"""
ESTIMATOR = """
    def model_fn(features, labels, mode):
        loss = tf.losses.sparse_softmax_cross_entropy(labels, network(features))
        train = tf.train.AdamOptimizer(1e-3).minimize(loss, tf.train.get_global_step())
        return NPUEstimatorSpec(mode, loss=loss, train_op=train)
    def input_fn():
        return tf.data.Dataset.from_tensor_slices((images, labels)).repeat().batch(8, drop_remainder=True)
    dump_config = DumpConfig(enable_dump=True, dump_path=sys.argv[1], dump_step="0|5|10", dump_mode="all")
    config = NPURunConfig(dump_config=dump_config, model_dir=sys.argv[2], iterations_per_loop=1)
    NPUEstimator(model_fn=model_fn, config=config).train(input_fn, steps=11)
"""


def _script(folder: Path, text: str) -> Path:
    path = folder / "train.py"
    path.write_text(textwrap.dedent(text))
    return path


def _run(folder: Path, *words: object) -> tuple[int, str, str]:
    (folder / "dumps").mkdir(exist_ok=True)
    done = tf2npu(["run", *words], plain_environment(), folder)
    return done.returncode, done.stdout, done.stderr


def _steps(folder: Path) -> dict[str, list[str]]:
    """Steps by model of the dumps in a folder, every file of which can be read."""
    found: dict[str, set[str]] = {}
    for path in folder.rglob("*"):
        if path.is_file() and not path.name.startswith("ge_proto"):
            assert re.fullmatch(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.\d+\.\d+\.\d{16}", path.name)
            read_header(path)
            found.setdefault(path.parent.parent.parent.name, set()).add(path.parent.name)
    return {name: sorted(steps, key=int) for name, steps in found.items()}


def _session(options: str) -> str:
    return LENET + SESSION.format(options=options.strip())


def test_a_session_dumps_the_steps_that_it_names(tmp_path):
    code, _, said = _run(tmp_path, _script(tmp_path, _session(LISTING)), "dumps")
    assert code == 0, said
    assert sorted(_steps(tmp_path / "dumps").values()) == [["0"], ["0", "5", "10"]]


def test_an_estimators_dump_config_is_the_same(tmp_path):
    code, _, said = _run(tmp_path, _script(tmp_path, LENET + ESTIMATOR), "dumps", "model")
    assert code == 0, said
    assert ["0", "5", "10"] in _steps(tmp_path / "dumps").values()


def test_the_launcher_dumps_a_script_that_does_not_ask_for_it_and_its_loss_is_the_same(tmp_path):
    script = _script(tmp_path, _session(""))
    options = ["enable_dump=true", "dump_path=dumps", "dump_step=1", "fusion=off"]
    code, loss, said = _run(tmp_path, *(word for option in options for word in ("--option", option)), script)
    assert code == 0, said
    assert list(_steps(tmp_path / "dumps").values()) == [["1"]]
    assert _run(tmp_path, "--option", "fusion=off", script)[1] == loss


@pytest.mark.whole(beyond=1)
@pytest.mark.parametrize("flags", [[], ["--strict"]])
def test_a_dump_without_a_path_is_told_before_training_and_strict_stops_there(tmp_path, flags):
    script = _script(tmp_path, _session(""))
    code, loss, said = _run(tmp_path, *flags, "--option", "enable_dump=true", script)
    assert "session option 'enable_dump' needs dump_path" in said
    assert (code == 0, "loss" in loss) == (not flags, not flags)


@pytest.mark.whole(beyond=1)
@pytest.mark.parametrize(("steps", "is_told"), [("100|200-210", True), ("1|100", False)])
def test_steps_that_never_come_are_told_at_the_end_if_nothing_was_dumped(tmp_path, steps, is_told):
    options = ["enable_dump=true", "dump_path=dumps", f"dump_step={steps}"]
    code, _, said = _run(
        tmp_path, *(word for option in options for word in ("--option", option)), _script(tmp_path, _session(""))
    )
    assert code == 0, said
    line = f"Data dump: nothing was dumped: dump_step is {steps}, and no graph ran more than 11 steps, which are counted from 0"
    assert said.count("nothing was dumped") == said.count(line) == is_told


def test_each_rank_dumps_under_the_number_of_its_device(tmp_path):
    script = _script(tmp_path, _session(LISTING))
    code, _, said = _run(tmp_path, "--devices", 2, script, "dumps")
    assert code == 0, said
    assert {path.name for path in (tmp_path / "dumps").glob("*/*")} == {"0", "1"}


def test_a_misspelt_option_is_told(tmp_path):
    text = _session(LISTING.replace('"dump_mode"', '"sump_mode"'))
    said = _run(tmp_path, _script(tmp_path, text), "dumps")[2]
    assert "there is no session option 'sump_mode'; did you mean 'dump_mode'?" in said
