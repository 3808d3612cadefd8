"""`tf2npu run --devices 2`: ranks that npu_device.distribute joins train as one process with the whole batch does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.legs.tf2.tool_scripts import environment, script
from tf2npu.report.runs import record

RANKS = """import numpy as np
import tensorflow as tf
{open}
rank = npu.open().worker_id
rng = np.random.default_rng(0)
x = rng.normal(size=(64, 8)).astype("float32")
y = rng.normal(size=(64, 1)).astype("float32")
tf.keras.utils.set_random_seed(1 + rank)
model = tf.keras.Sequential([tf.keras.layers.Dense(4, activation="relu", input_shape=(8,)), tf.keras.layers.Dense(1)])
npu.distribute.broadcast(model.trainable_variables, 0)
model.compile(npu.distribute.npu_distributed_keras_optimizer_wrapper(tf.keras.optimizers.SGD(0.1)), "mse")
data, size = npu.distribute.shard_and_rebatch_dataset(tf.data.Dataset.from_tensor_slices((x, y)), 16)
model.fit(data.batch(size, drop_remainder=True), epochs=2, verbose=0)
print("weights", *[repr(float(n)) for v in model.trainable_variables for n in v.numpy().ravel()])
"""


def run(*words: object) -> subprocess.CompletedProcess[str]:
    """`tf2npu run`, in a process of its own, which starts those of the ranks."""
    command = [Path(sys.executable).with_name("tf2npu"), "run", *map(str, words)]
    return subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)


def weights(printed: str) -> list[list[float]]:
    lines = [line.partition("weights ")[2] for line in printed.splitlines() if "weights " in line]
    return [[float(number) for number in line.split()] for line in lines]


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> tuple[subprocess.CompletedProcess[str], Path]:
    """Two ranks, and the file that the run of rank 0 is in."""
    folder = tmp_path_factory.mktemp("ranks")
    return run("--devices", 2, "--report", folder / "run.json", script(folder, RANKS)), folder


def test_ranks_train_what_one_process_trains(trained, tmp_path):
    done, _ = trained
    assert done.returncode == 0, done.stderr
    first, second = weights(done.stdout)
    assert first == second
    (alone,) = weights(run(script(tmp_path, RANKS)).stdout)
    assert first == pytest.approx(alone, rel=1e-5, abs=1e-6)


def test_the_report_has_both_ranks(trained):
    done, folder = trained
    told = record.read(folder / "run.json")["run"]
    assert [rank["rank"] for rank in told["ranks"]] == [0, 1] and [rank["steps"] for rank in told["ranks"]] == [8, 8]
    assert "2 ranks have met" in done.stderr
    assert "options without effect" not in done.stderr
