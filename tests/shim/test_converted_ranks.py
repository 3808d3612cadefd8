"""Scripts for other kinds of machines, converted for several ranks, train as Horovod's rule says."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests import fork_server
from tests.shim.conftest import plain_environment
from tests.shim.data_parallel_scripts import DATA
from tests.shim.test_launch import launch, script  # noqa: F401
from tests.shim.test_ranks import horovod_by_hand, variables

TPU = (
    DATA
    + """
def main():
    rows = tf.data.Dataset.from_tensor_slices(data).repeat().batch(4)
    features = rows.make_one_shot_iterator().get_next()
    w = tf.get_variable("w", initializer=[[1.0], [-1.0]])
    loss = tf.reduce_mean(tf.square(tf.matmul(features, w) - 3.0))
    optimizer = tf.train.GradientDescentOptimizer(0.2)
    optimizer = tf.contrib.tpu.CrossShardOptimizer(optimizer)
    train = optimizer.minimize(loss, tf.train.get_or_create_global_step())
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(8):
            sess.run(train)
        print(json.dumps([sess.run(w).tolist()]))
main()
"""
)


def converted(folder: Path, *options: str) -> str:
    """The output of the conversion of `src` into `out`."""
    return fork_server.tf2npu(["convert", "src", "out", "--no-cache", *options], plain_environment(), folder).stdout


def one_rank_by_hand() -> np.ndarray:
    data = np.arange(32, dtype=np.float32).reshape(16, 2) / 16
    w = np.array([[1.0], [-1.0]])
    for step in range(8):
        x = data[[(4 * step + i) % 16 for i in range(4)]]
        w = w - 0.2 * 2 * x.T @ (x @ w - 3.0) / 4
    return w


def test_an_optimizer_of_a_tpu_trains_on_one_device(script, tmp_path):  # noqa: F811
    script(TPU, "src/train.py")
    converted(tmp_path)
    done = launch("out/train.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    np.testing.assert_allclose(variables(done.stdout)[0][0], one_rank_by_hand(), rtol=1e-5)


def test_an_optimizer_of_a_tpu_averages_over_two_ranks(script, tmp_path):  # noqa: F811
    script(TPU, "src/train.py")
    converted(tmp_path, "--distributed", "tf")
    path = tmp_path / "out" / "train.py"
    assert path.read_text().count("npu_distributed_optimizer_wrapper(") == 1, "averaged once"
    done = launch("--devices", "2", path, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    made = [value for (value,) in variables(done.stdout)]
    assert len(made) == 2
    for value in made:
        np.testing.assert_allclose(value, horovod_by_hand(), rtol=1e-5)


CLUSTER = """
import tensorflow as tf
cluster = tf.train.ClusterSpec({"ps": ["a:1"], "worker": ["b:1", "c:1"]})
server = tf.train.Server(cluster, job_name=job, task_index=task)
if job == "ps":
    server.join()
with tf.device(tf.train.replica_device_setter(cluster=cluster)):
    loss = build()
    optimizer = tf.train.SyncReplicasOptimizer(make_optimizer(), 2)
    train = optimizer.minimize(loss, tf.train.get_or_create_global_step())
hook = optimizer.make_session_run_hook(task == 0)
with tf.train.MonitoredTrainingSession(master=server.target, is_chief=task == 0, hooks=[hook]) as sess:
    while not sess.should_stop():
        sess.run(train)
"""


@pytest.mark.whole
def test_what_is_written_in_the_place_of_a_cluster_trains_on_two_ranks(script, tmp_path):  # noqa: F811
    """One finding tells it, statement by statement; they stand here between what a script has anyway."""
    script(CLUSTER, "src/train.py")
    converted(tmp_path, "--distributed", "tf")
    report = json.loads((tmp_path / "out" / "tf2npu-report" / "report.json").read_text())
    (finding,) = [f for f in report["files"][0]["findings"] if f["rule"] in ("NPU956", "NPU413", "NPU701")]
    statements = finding["message"].partition("and write: ")[2].partition(" the loop of the workers")[0].split("; ")
    ranks, shard, optimizer, hooks, session = statements
    program = f"""{DATA}
import os
from npu_bridge.npu_init import *
rate, n, m, folder = 0.2, 8, 4, "model"
{ranks}
dataset = tf.data.Dataset.from_tensor_slices(data)
{shard}
features = dataset.repeat().batch(4).make_one_shot_iterator().get_next()
w = tf.get_variable("w", initializer=[[1.0 + rank], [-1.0]])
loss = tf.reduce_mean(tf.square(tf.matmul(features, w) - 3.0))
{optimizer}
train = optimizer.minimize(loss, tf.train.get_or_create_global_step())
with tf.control_dependencies([train]):
    last = w.read_value()
{hooks}
{session}
    while not sess.should_stop():
        value = sess.run(last)
print(json.dumps([value.tolist()]))
"""
    done = launch("--devices", "2", script(program), cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    made = [value for (value,) in variables(done.stdout)]
    assert len(made) == 2
    for value in made:
        np.testing.assert_allclose(value, horovod_by_hand(), rtol=1e-5)
    assert tf_checkpoint(tmp_path / "model") == "model.ckpt-8"


def tf_checkpoint(folder: Path) -> str:
    """The last checkpoint that the state file of a folder names."""
    first = (folder / "checkpoint").read_text().splitlines()[0]
    return first.partition('"')[2].rstrip('"')
