"""Checkpoints of several ranks: one rank writes what all of them save in one folder."""

from __future__ import annotations

import os

import pytest

from tests.shim.test_launch import launch, script  # noqa: F401

RUNS = int(os.environ.get("TF2NPU_CHECKPOINT_RUNS", "1"))
"""Number of times that the race is run: once among all tests, 20 times by `make acceptance`."""

ESTIMATOR = """
import os, sys
import tensorflow as tf
from npu_bridge.npu_init import *
rank = int(os.environ["RANK_ID"])

def model_fn(features, labels, mode):
    writer = tf.get_variable("writer", initializer=rank, trainable=False)
    w = tf.get_variable("w", initializer=[[1.0 + rank], [-1.0]])
    loss = tf.reduce_mean(tf.square(tf.matmul(features, w) - labels))
    optimizer = npu_distributed_optimizer_wrapper(tf.train.GradientDescentOptimizer(0.1))
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=optimizer.minimize(loss, tf.train.get_global_step()))

def input_fn():
    return tf.data.Dataset.from_tensors(([[1.0, 2.0]], [[3.0]])).repeat()

class Reads(tf.train.CheckpointSaverListener):
    def after_save(self, session, step):
        tf.train.load_variable(DIR, "w")

CONFIG
estimator.train(input_fn, steps=8, hooks=npu_hooks_append(), saving_listeners=[Reads()])
estimator.train(input_fn, steps=4, hooks=npu_hooks_append())
states = tf.train.get_checkpoint_state(DIR).all_model_checkpoint_paths
print("writers", [int(tf.train.load_variable(state, "writer")) for state in states])
print("evaluated", estimator.evaluate(input_fn, steps=1)["global_step"])
"""
NPU = """
DIR = "model"
config = NPURunConfig(model_dir=DIR, save_checkpoints_steps=1, keep_checkpoint_max=50)
estimator = NPUEstimator(model_fn, config=config)
"""
PLAIN = """
DIR = "model"
config = npu_run_config_init(tf.estimator.RunConfig(save_checkpoints_steps=1, keep_checkpoint_max=50))
estimator = tf.estimator.Estimator(model_fn, os.path.join(".", DIR), config)
"""


@pytest.mark.whole
@pytest.mark.parametrize("config", [NPU, PLAIN], ids=["npu", "plain"])
@pytest.mark.parametrize("run", range(RUNS))
def test_rank_0_alone_writes_into_a_folder_of_all(script, tmp_path, config, run):  # noqa: F811
    """Each rank says its number in every checkpoint that it writes; what is read after a save is there."""
    done = launch("--devices", "2", script(ESTIMATOR.replace("CONFIG", config)), cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    said = sorted(line.removeprefix("[rank 1] ") for line in done.stdout.splitlines())
    assert said == ["evaluated 12"] * 2 + [f"writers {[0] * 13}"] * 2
    assert "rank 0 writes the checkpoints in " in done.stderr


OWN = """
DIR = "model-%d" % rank
config = NPURunConfig(model_dir=DIR, save_checkpoints_steps=1, keep_checkpoint_max=50)
estimator = NPUEstimator(model_fn, config=config)
"""


@pytest.mark.whole
def test_each_rank_writes_into_a_folder_of_its_own(script, tmp_path):  # noqa: F811
    done = launch("--devices", "2", script(ESTIMATOR.replace("CONFIG", OWN)), cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    said = sorted(line.removeprefix("[rank 1] ") for line in done.stdout.splitlines())
    assert said == ["evaluated 12"] * 2 + [f"writers {[rank] * 13}" for rank in (0, 1)]
    assert "writes the checkpoints" not in done.stderr


def test_a_rank_that_no_other_answers_writes_itself(tmp_path, monkeypatch, capsys):
    """It waits once, says so, and leaves the folder to a lower rank as soon as that has noted that it saves there."""
    from npu_bridge import _checkpoint_writer

    monkeypatch.setattr(_checkpoint_writer, "PATIENCE_SECONDS", 0.1)
    mine = _checkpoint_writer.SavingRank(str(tmp_path), 1, 0, "model")
    assert mine.writer() == 1 and mine.writer() == 1
    assert capsys.readouterr().err == "npu_bridge: rank 0 has no checkpoint hook after 0.1 s: rank 1 writes its own\n"
    other = _checkpoint_writer.SavingRank(str(tmp_path), 0, 0, "./model")
    assert (mine.writer(), other.writer()) == (0, 0)


def test_savers_are_matched_one_by_one(tmp_path):
    """The second saver of a rank is compared with the second of the others."""
    from npu_bridge._checkpoint_writer import SavingRank

    folders = {0: ["a", "b"], 1: ["a-1", "b"], 2: ["a-1", "b"]}
    savers = {rank: [SavingRank(str(tmp_path), rank, n, name) for n, name in enumerate(own)] for rank, own in folders.items()}
    assert {rank: [saver.writer() for saver in own] for rank, own in savers.items()} == {0: [0, 0], 1: [1, 0], 2: [1, 0]}
