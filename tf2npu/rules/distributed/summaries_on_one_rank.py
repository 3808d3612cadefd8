"""Summaries that one rank alone writes."""

from __future__ import annotations

from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.rank_conditions import enclosing_block
from tf2npu.scanner.sites import Call

_SUMMARIES = ("scalar", "histogram", "image", "audio", "text", "merge", "merge_all", "tensor_summary")


@rule(
    id="NPU928",
    title="Summaries on one rank",
    matches=tuple(f"tensorflow.summary.{name}" for name in _SUMMARIES),
    why="Summaries are ops of the graph: with them on one rank only, the graphs differ and collectives wait for ever.",
    done_when="Both ranks of `tf2npu run --devices 2` come to the end: none waits for the other in a collective operation.",
    source="TensorFlow adapter porting guide: tf.summary on all devices or on none",
    examples=(
        Example.same(
            "import tensorflow as tf\nimport horovod.tensorflow as hvd\nif hvd.rank() == 0:\n    tf.summary.scalar('loss', loss)",
            level="manual",
            write="import tensorflow as tf\nimport horovod.tensorflow as hvd\ntf.summary.scalar('loss', loss)\n"
            "if hvd.rank() == 0:\n    w = tf.summary.FileWriter('logs')",
        ),
        Example.same("tf.summary.scalar('loss', loss)", note="on every rank"),
        Example.same(
            "import tensorflow as tf\nimport horovod.tensorflow as hvd\n"
            "if hvd.rank() == 0:\n    w = tf.summary.FileWriter('logs')",
            note="a writer adds nothing to the graph",
        ),
    ),
)
def summary_on_one_rank(call: Call) -> None:
    """Reports summary ops that only some ranks have."""
    block = enclosing_block(call.script, call.node)
    if block is not None:
        call.manual(f"Call this on every rank, above `if {block.condition}:`, and let one rank alone make the FileWriter.")
