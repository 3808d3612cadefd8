"""Scripts that end early, give no numbers, alternate or hang: each ends with a clear line and the right exit code."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.check.forked_check import Checked, checked
from tf2npu.launch.check_processes import CheckedScript

BEGIN = """
import os, sys
import numpy as np
import tensorflow as tf
x, y = tf.placeholder(tf.float32, [None, 8], "x"), tf.placeholder(tf.float32, [None, 1], "y")
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1) - y), name="loss")
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
session = tf.Session()
session.run(tf.global_variables_initializer())
def batch():
    return {x: np.random.rand(4, 8), y: np.random.rand(4, 1)}
"""


CHANNELS_FIRST = """
import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
random = np.random.RandomState(0)
x, y = tf.placeholder(tf.float32, [4, 3, 12, 12]), tf.placeholder(tf.int64, [4])
net = tf.layers.conv2d(x, 6, 3, data_format="channels_first")
net = tf.layers.batch_normalization(net, axis=1, training=True)
net = tf.layers.max_pooling2d(tf.nn.relu(net), 2, 2, data_format="channels_first")
net = tf.layers.separable_conv2d(net, 4, 3, data_format="channels_first")
loss = tf.losses.sparse_softmax_cross_entropy(y, tf.layers.dense(tf.reduce_mean(net, [2, 3]), 5))
step = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss, tf.train.get_or_create_global_step())
with tf.name_scope("outer"), tf.train.MonitoredTrainingSession() as session:
    for _ in range(3):
        session.run(step, {x: random.rand(4, 3, 12, 12), y: random.randint(0, 5, 4)})
"""


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for the script. Nothing may be left among temporary files."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    (tmp_path / "source").mkdir()
    yield tmp_path / "source"
    assert list(temporary.iterdir()) == []


def check(source: Path, script: str) -> Checked:
    """A check whose processes are forks."""
    (source / "train.py").write_text(BEGIN + textwrap.dedent(script))
    return checked(source / "train.py", (), source / "check", steps=3)


def run_of(found: Checked, name: str) -> Any:
    return next(run for run in found.document["runs"] if run["run"] == name)


def test_a_loss_of_each_step_is_compared_though_none_is_fetched(source: Path) -> None:
    found = check(
        source,
        """
        first, second = loss * 10.0, loss + 100.0
        steps = [tf.train.GradientDescentOptimizer(1e-6).minimize(one) for one in (first, second)]
        for i in range(3):
            session.run(steps[i % 2], batch())
    """,
    )
    assert found.code == 0, found.text
    losses = found.document["modes"][0]["loss"]
    assert [value > 100 for value in losses] == [False, True, False]


def test_a_migrated_script_that_raises_is_compared_as_far_as_it_came(source: Path) -> None:
    found = check(
        source,
        """
        for i in range(3):
            session.run([train, loss], batch())
            if i == 1 and "npu_bridge.npu_init" in sys.modules:
                raise ValueError("only the migrated one")
    """,
    )
    assert found.code == 3
    assert "only the migrated one" in run_of(found, "B")["failure"]["text"]
    assert run_of(found, "C")["verdict"] == "agrees"
    assert "after 2 of 3 training steps" in found.text
    assert "_check" not in found.text


def test_a_nan_of_the_original_is_named_where_it_comes_in(source: Path) -> None:
    found = check(
        source,
        """
        for i in range(3):
            fed = batch()
            fed[x][0, 0] = np.nan if i == 1 else 0
            session.run([train, loss], fed)
    """,
    )
    assert found.code == 3
    assert run_of(found, "A")["failure"]["node"] == "x"
    assert run_of(found, "D")["loss"][1:] == ["NaN", "NaN"]


@pytest.mark.whole
def test_steps_before_a_sudden_end_count(source: Path) -> None:
    found = check(
        source,
        """
        session.run([train, loss], batch())
        os._exit(7)
    """,
    )
    assert found.code == 3
    assert run_of(found, "A")["failure"]["type"] == "exit code 7"
    assert len(run_of(found, "D")["loss"]) == 1


@pytest.mark.whole(beyond=1)
@pytest.mark.parametrize(
    ("script", "said"),
    [("raise ValueError('no data')", "no data"), ("print(session.run(loss, batch()))", "made no training step")],
)
def test_a_script_that_makes_no_step_is_told_of(source: Path, script: str, said: str) -> None:
    found = check(source, script)
    assert found.code == 3
    assert said in found.text
    assert "/_check/" not in found.text


def test_images_with_the_channels_first_are_checked_where_the_cpu_has_no_kernels_for_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without oneDNN TensorFlow convolves and pools channels-last images alone, in a finalized graph as well."""
    script = tmp_path / "channels_first.py"
    script.write_text(CHANNELS_FIRST)
    monkeypatch.setenv("TF_ENABLE_ONEDNN_OPTS", "0")
    plain = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    command = [sys.executable, "-m", "tf2npu", "check", "--out", tmp_path / "check", script]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert plain.returncode == 1 and "NHWC" in plain.stderr
    assert done.returncode == 0, done.stdout + done.stderr
    runs = [line for line in done.stdout.splitlines() if "agrees" in line]
    assert [line.split()[0] for line in runs] == ["B", "C", "D", "E,"]


def test_a_process_that_never_ends_is_ended(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
    script = CheckedScript(process, tmp_path / "log")
    assert script.wait(time.monotonic() + 0.1, grace=0.0) == 137
    assert script.is_late


def test_too_little_memory_is_said_before_the_first_step(source: Path, tmp_path: Path):
    script = source / "train.py"
    script.write_text(f"""
import npu_formats.free_memory as machine
machine.free_bytes.__code__ = (lambda read=None: 300_000_000).__code__
{BEGIN}
for step in range(2):
    session.run(train, batch())
""")
    found = checked(script, [], tmp_path / "out")
    needs, runs = "needs about 1.2 GB of memory and this machine has 0.3 GB free", "runs the migrated script"
    assert found.code == 0 and found.text.count(needs) == 1
    assert found.text.index(needs) < found.text.index(runs)
