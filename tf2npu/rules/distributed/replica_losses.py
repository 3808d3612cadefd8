"""Losses that a strategy's number of replicas divides."""

from __future__ import annotations

from tf2npu.config import Config
from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.files.script_kinds import is_unit_test
from tf2npu.scanner.sites import Call

_TF = Config(distributed="tf", select=frozenset({"NPU971"}))
_STRATEGY = "s = tf.distribute.MirroredStrategy()\n"
_AVERAGE = "tensorflow.nn.compute_average_loss"
_REGULARIZATION = "tensorflow.nn.scale_regularization_loss"


@rule(
    id="NPU971",
    title="Losses divided by the replicas",
    matches=(_AVERAGE, _REGULARIZATION),
    why="A strategy adds up the gradients of replicas, so losses are divided by their number; ranks average theirs.",
    done_when="A step of `tf2npu run --devices 2` moves the variables as far as one process with the batch of both ranks.",
    source="tf.nn.compute_average_loss, tf.nn.scale_regularization_loss of TensorFlow 1.15; NPUStrategy.num_replicas_in_sync",
    examples=(
        Example.same(
            f"{_STRATEGY}loss = tf.nn.compute_average_loss(each)",
            config=_TF,
            level="manual",
            write=f"{_STRATEGY}loss = tf.reduce_mean(each)",
        ),
        Example.same(
            f"{_STRATEGY}loss = tf.nn.scale_regularization_loss(l2)",
            config=_TF,
            level="manual",
            write=f"{_STRATEGY}loss = l2",
        ),
        Example.same(
            f"{_STRATEGY}loss = tf.nn.compute_average_loss(each, global_batch_size=64)",
            note="right where a rank reads 64 rows",
            config=_TF,
            level="manual",
        ),
        Example.same("loss = tf.nn.compute_average_loss(each)", note="no strategy, so there is one replica", config=_TF),
        Example.same(f"{_STRATEGY}loss = tf.nn.compute_average_loss(each)", note="one device"),
    ),
)
def replica_loss(call: Call) -> None:
    """Reports a loss that is divided by the number of replicas, where ranks average their gradients."""
    if call.script.config.distributed != "tf" or is_unit_test(call.script) or not call.script.project.distribution_kinds:
        return
    if call.name == _REGULARIZATION:
        call.manual(
            "In the scope of a strategy this divides by the number of replicas, which are the ranks here. Their gradients are "
            "averaged after that: the regularization is as many times too weak. Use the sum of the losses as it is."
        )
    elif call.value("global_batch_size", 2) is None:
        call.manual(
            "In the scope of a strategy this divides by the batch of all replicas, which are the ranks here. Their gradients are "
            "averaged after that: a step is as many times too small. Divide by the batch of one rank, as tf.reduce_mean does."
        )
    else:
        call.manual(
            "Gradients are averaged over the ranks after this division: pass the number of rows that one rank reads in a step as "
            "global_batch_size."
        )
