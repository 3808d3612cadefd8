"""Graphs that are not the same on every rank."""

from __future__ import annotations

from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.rank_conditions import enclosing_block
from tf2npu.scanner.sites import Call

_OPS = (
    "constant", "Variable", "get_variable", "placeholder", "cast", "add", "add_n", "multiply", "divide", "subtract", "matmul",
    "concat",
    "reduce_mean", "reduce_sum", "reduce_max", "gradients", "assign", "assign_add", "group", "identity", "Print", "print",
    "no_op",
    "nn.dropout", "nn.relu", "nn.softmax", "nn.conv2d", "nn.bias_add", "nn.l2_loss", "clip_by_global_norm", "cond", "while_loop",
    "layers.dense", "layers.conv2d", "layers.dropout", "layers.batch_normalization", "losses.softmax_cross_entropy",
    "metrics.accuracy", "train.AdamOptimizer", "train.MomentumOptimizer", "train.GradientDescentOptimizer",
    "global_variables_initializer", "py_func", "metrics.mean", "metrics.precision", "metrics.recall", "metrics.auc",
)  # fmt: skip


@rule(
    id="NPU927",
    title="Graph that depends on the rank",
    matches=tuple(f"tensorflow.{name}" for name in _OPS),
    why="All ranks must run the same graph: another graph on one rank is compiled anew there, and the collectives wait for ever.",
    done_when="Both ranks of `tf2npu run --devices 2` come to the end: none waits for the other in a collective operation.",
    source="TensorFlow adapter porting guide: distributed training, the graphs of all devices must be the same",
    examples=(
        Example.same(
            "import tensorflow as tf\nimport horovod.tensorflow as hvd\nif hvd.rank() == 0:\n    loss = tf.reduce_mean(loss)",
            level="manual",
            write="import tensorflow as tf\nimport horovod.tensorflow as hvd\nloss = tf.reduce_mean(loss)\n"
            "if hvd.rank() == 0:\n    fetches.append(loss)",
        ),
        Example.same(
            "import tensorflow as tf\nimport horovod.tensorflow as hvd\nloss = tf.reduce_mean(loss)\n"
            "if hvd.rank() == 0:\n    tf.logging.info('start')",
            note="a log line is no part of the graph",
        ),
        Example.same("if args.rank == 0:\n    loss = tf.reduce_mean(loss)", note="the rank of something else"),
    ),
)
def rank_dependent_graph(call: Call) -> None:
    """Reports ops that only some ranks add to their graph."""
    block = enclosing_block(call.script, call.node)
    if block is not None:
        call.manual(
            "Only some ranks build the op; ranks with different graphs can wait for each other for ever. Move the line above "
            f"`if {block.condition}:`; let that rank alone use the result."
        )
