"""Gradients that the ranks cannot average: the error names the variable and what to write."""

from __future__ import annotations

import pytest

from tests.shim.conftest import checked
from tests.shim.test_launch import launch, script  # noqa: F401

WORD2VEC = """
import os
import numpy as np
import tensorflow as tf
from npu_bridge.npu_init import *
rank = int(os.environ["RANK_ID"])
words = tf.placeholder(tf.int32, [None])
table = tf.get_variable("embeddings", initializer=np.ones([50, 3], np.float32))
loss = tf.reduce_sum(tf.nn.embedding_lookup(table, words))
optimizer = tf.train.GradientDescentOptimizer(1.0)
TRAIN
with tf.train.MonitoredTrainingSession(hooks=npu_hooks_append()) as session:
    session.run(train, {words: np.arange(4 + 3 * rank)})
    print(session.run(table)[:8, 0].tolist())
"""
SPARSE = "train = npu_distributed_optimizer_wrapper(optimizer).minimize(loss, tf.train.get_or_create_global_step())"
BY_HAND = """
g, = npu_allreduce(tf.gradients(loss, [table]))
train = optimizer.apply_gradients([(g, table)], tf.train.get_or_create_global_step())
"""
DENSE = """
grads = [(npu_allreduce(tf.convert_to_tensor(g)), v) for g, v in optimizer.compute_gradients(loss) if g is not None]
train = optimizer.apply_gradients(grads, tf.train.get_or_create_global_step())
"""
"""Code of the error's advice, written out."""


@pytest.mark.whole
@pytest.mark.parametrize(("train", "whose"), [(SPARSE, "embeddings"), (BY_HAND, "gradients/")], ids=["wrapped", "by hand"])
def test_slices_of_another_number_of_rows_name_their_variable(script, train, whose):  # noqa: F811
    done = launch("--devices", "2", script(WORD2VEC.replace("TRAIN", train)))
    assert done.returncode == 1
    assert "the ranks bring tensors that differ" in done.stderr and "[4, 3]" in done.stderr and "[7, 3]" in done.stderr
    assert f"These are rows of the gradient of {whose}" in done.stderr and "as sparse_as_dense of Horovod does" in done.stderr
    assert DENSE.partition(" if")[0].partition("= ")[2] in done.stderr


@pytest.mark.whole
def test_what_the_error_says_trains(script):  # noqa: F811
    """Each of the rows 0 to 3 is read by both ranks, 4 to 6 by one of two."""
    done = launch("--devices", "2", script(WORD2VEC.replace("TRAIN", DENSE)))
    assert done.returncode == 0, done.stderr[-3000:]
    assert {line.removeprefix("[rank 1] ") for line in done.stdout.splitlines()} == {str([0.0] * 4 + [0.5] * 3 + [1.0])}


DOUBLE = """
import numpy as np
import tensorflow as tf
from npu_bridge.npu_init import *
images = (np.ones([4, 2], np.uint8) / 255.0)CAST
w = tf.get_variable("w", [2, 1], images.dtype)
loss = tf.reduce_sum(tf.matmul(tf.constant(images), w))
optimizer = OPTIMIZER
try:
    MAKE
    print("made", [g.dtype.name for g in made])
except TypeError as error:
    print(error)
"""
PAIRS = "made = [g for g, v in optimizer.compute_gradients(loss)]"
OPTIMIZERS = {
    "wrapped": ("npu_distributed_optimizer_wrapper(tf.train.GradientDescentOptimizer(0.1))", PAIRS),
    "averaged": ("NPUDistributedOptimizer(tf.train.GradientDescentOptimizer(0.1))", PAIRS),
    "both": ("NPUOptimizer(tf.train.GradientDescentOptimizer(0.1), is_distributed=True)", PAIRS),
    "keras": ("KerasDistributeOptimizer(tf.keras.optimizers.SGD(0.1))", "made = optimizer.get_gradients(loss, [w])"),
    "keras wrapped": (
        "npu_distributed_optimizer_wrapper(tf.keras.optimizers.SGD(0.1))",
        "made = optimizer.get_gradients(loss, [w])",
    ),
}


@pytest.mark.whole(beyond=1)
@pytest.mark.parametrize("how", OPTIMIZERS)
def test_a_double_gradient_names_its_variable_and_the_cast(fresh, how):
    """As in Horovod's MNIST example, whose images are uint8 / 255.0.  The coordinator is not asked before a session runs."""
    optimizer, make = OPTIMIZERS[how]
    source = DOUBLE.replace("OPTIMIZER", optimizer).replace("MAKE", make)
    ranks = {"RANK_SIZE": "2", "RANK_ID": "0", "TF2NPU_COLLECTIVES": "00|/nonexistent"}
    said = checked(fresh(source.replace("CAST", ""), **ranks)).stdout
    assert said.startswith("the gradient of w cannot be averaged over the ranks: dtype float64 is not one of int8, ")
    assert "; cast what the model reads to float32, with tf.cast(features, tf.float32) or array.astype(np.float32)" in said
    said = checked(fresh(source.replace("CAST", ".astype(np.float32)"), **ranks)).stdout
    assert said == "made ['float32']\n"


def test_a_double_tensor_that_a_script_averages_itself(fresh):
    source = """
    import tensorflow as tf
    from npu_bridge.npu_init import *
    try:
        npu_allreduce([tf.constant([1.0], tf.float64, name="mine")])
    except TypeError as error:
        print(error)
    """
    said = fresh(source, RANK_SIZE="2", RANK_ID="0", TF2NPU_COLLECTIVES="00|/nonexistent").stdout
    assert said.startswith("HcomAllReduce of mine:0: dtype float64 is not one of ") and "cast what the model reads" in said
