"""The comparison of losses: what counts as agreement, and a real script on both sides' common bootstrap."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.migrated.agreement import BOTH_SIDES, Agreement, Run, Trial, read

TRIAL = Trial("a script", Path("a"), Path("b"), "train.py", ())


def trained(losses, code=0, lacking=(), is_read=True):
    return Run(code, 1.0, tuple(losses), ("weights",) if is_read else (), lacking)


TEN = [1.0 + 0.1 * i for i in range(10)]


@pytest.mark.parametrize(
    ("device", "problem"),
    [
        (trained(TEN), ""),
        (trained([loss * 1.0009 for loss in TEN]), ""),
        (trained([loss * 1.002 for loss in TEN]), "the losses disagree"),
        (trained(TEN[:9]), "9 losses of 10"),
        (trained([*TEN[:9], float("nan")]), "a loss is not a number"),
        (trained(TEN, code=1), "the device: exit code 1"),
        (trained(TEN, lacking=("bias",)), "variables not in the checkpoint: bias"),
        (trained(TEN, is_read=False), "variables not in the checkpoint: all"),
    ],
)
def test_what_agrees(device, problem):
    assert Agreement(TRIAL, trained(TEN), trained(TEN), device).problem == problem


def test_tensorflow_may_differ_from_itself():
    other = trained([loss * 1.01 for loss in TEN])
    agreement = Agreement(TRIAL, trained(TEN), other, trained([loss * 1.02 for loss in TEN]))
    assert agreement.spread == pytest.approx(0.01) and agreement.allowed == pytest.approx(0.03)
    assert agreement.problem == ""


SCRIPT = """
import numpy as np
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
step = tf.train.get_or_create_global_step()
weight = tf.get_variable("weight", [3], initializer=tf.random_normal_initializer())
kept = tf.nn.dropout(weight, rate=0.5)
loss = tf.reduce_sum(tf.square(kept - 1.0))
numbers = tf.data.Dataset.range(4).shuffle(4).map(lambda x: x + 1, num_parallel_calls=2).repeat()
number = tf.cast(tf.data.make_one_shot_iterator(numbers).get_next(), tf.float32)
rate = 0.01 * number * (1.0 + tf.cast(step, tf.float32))
train = tf.train.GradientDescentOptimizer(rate).minimize(loss)
both = tf.group(train, step.assign(step + 1))
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for _ in range(4):
        session.run([both])
    print(np.round(session.run(weight), 6).tolist())
"""


def test_runs_start_from_the_same_variables(tmp_path):
    (tmp_path / "train.py").write_text(SCRIPT)
    records = []
    for part in ("first", "second"):
        environment = {
            **os.environ, "PYTHONPATH": str(BOTH_SIDES), "AGREEMENT_RECORD": str(tmp_path / part), "TF_CPP_MIN_LOG_LEVEL": "3",
            "AGREEMENT_CHECKPOINT": str(tmp_path / "start.ckpt"), **({"AGREEMENT_WRITES": "1"} if part == "first" else {}),
        }  # fmt: skip
        subprocess.run([sys.executable, "train.py"], cwd=tmp_path, env=environment, check=True, capture_output=True)
        records.append(read(0, 0.0, tmp_path / part))
    assert records[1].read == ("global_step", "weight") and records[1].lacking == ()
    assert records[0].losses == records[1].losses and len(records[0].losses) == 4
    # loss falls by the rule of gradient descent with rates 0.01 * number * step, number and step in their order
    factors = [(1 - 0.02 * (i + 1) * (i + 1)) ** 2 for i in range(3)]
    falls = [after / before for before, after in zip(records[0].losses, records[0].losses[1:], strict=False)]
    assert falls == pytest.approx(factors, rel=1e-5)
    assert json.loads((tmp_path / "first").read_text().splitlines()[0])["written"] == ["global_step", "weight"]
