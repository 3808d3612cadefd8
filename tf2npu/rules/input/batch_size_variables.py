"""Batch sizes that are variables."""

from __future__ import annotations

from tf2npu.rules.base import Example, rule
from tf2npu.scanner.sites import Call


@rule(
    id="NPU918",
    title="Variable in the input pipeline",
    matches=("tensorflow.data.Dataset().batch", "tensorflow.data.Dataset().padded_batch"),
    why="The pipeline runs on the host, variables live on the device.",
    done_when="`tf2npu run` reads a batch, and no function of the pipeline makes or reads a variable.",
    source="TensorFlow adapter porting guide: constants in the place of variables in preprocessing",
    examples=(
        Example.same(
            "bs = tf.Variable(8)\nd = tf.data.Dataset.range(9).batch(bs)",
            level="unsupported",
            write="d = tf.data.Dataset.range(9).batch(8)",
        ),
        Example.same("d = tf.data.Dataset.range(9).repeat().batch(4, True)", note="a constant"),
    ),
)
def variable_in_pipeline(call: Call) -> None:
    """Reports a dataset whose batch size is a variable."""
    value = call.value("batch_size", 0)
    if value is not None and call.resolve(value) in ("tensorflow.Variable()", "tensorflow.get_variable()"):
        call.unsupported("A variable must not be part of the input pipeline: use a constant or a placeholder.")
