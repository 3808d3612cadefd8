"""Batches of sequences that are put together by their length."""

from __future__ import annotations

from tf2npu.rules.base import Example, part_of
from tf2npu.rules.input.fixed_batches import drop_remainder
from tf2npu.scanner.sites import Call


@part_of(
    drop_remainder,
    matches=("tensorflow.data.experimental.bucket_by_sequence_length",),
    why="The NPU compiles the graph anew for each shape: a bucket needs one length and one number of examples.",
    source="tf.data.experimental.bucket_by_sequence_length of TensorFlow 1.15; TensorFlow adapter porting guide: static shapes",
    examples=(
        Example.same(
            "b = tf.data.experimental.bucket_by_sequence_length(f, b, n)",
            level="manual",
            write="b = tf.data.experimental.bucket_by_sequence_length(f, b, n, pad_to_bucket_boundary=True, drop_remainder=True)",
        ),
        Example.same(
            "b = tf.data.experimental.bucket_by_sequence_length(f, b, n, pad_to_bucket_boundary=True, drop_remainder=True)",
            note="one shape for each bucket",
        ),
        Example.same("b = mine.bucket_by_sequence_length(length, [10, 20], [4, 4, 4])", note="not TensorFlow's"),
    ),
)
def bucketed_batches(call: Call) -> None:
    """Reports buckets whose batches differ in length or in number."""
    given = (call.value("pad_to_bucket_boundary", 5), call.value("drop_remainder", 7))
    if call.has_star_args or any(value is None or call.resolve(value) == "False" for value in given):
        call.manual(
            "Pass pad_to_bucket_boundary=True and drop_remainder=True, and leave out what is longer than the last boundary: then "
            "each bucket has one shape, which the NPU compiles once."
        )
