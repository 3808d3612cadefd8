"""Shuffles whose buffer is filled for longer than the device waits."""

from __future__ import annotations

from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.pipelines.large_shuffles import LARGE, SHUFFLES, buffer_size
from tf2npu.scanner.sites import Call


@rule(
    id="NPU983",
    title="Shuffle buffer that fills for long",
    once=True,
    matches=tuple(SHUFFLES),
    why="The buffer is filled before the first batch comes out, and a device that prepares the data waits only for a time.",
    source="TensorFlow adapter porting guide, frequent questions: GetNext times out where a shuffle has a large buffer",
    examples=(
        Example.same(
            "d = tf.data.TFRecordDataset(f).shuffle(10000000)",
            level="info",
            write="d = tf.data.TFRecordDataset(f).shuffle(10000)",
        ),
        Example.same("d = tf.data.Dataset.list_files(f).shuffle(buffer_size=2 * 1000 * 1000)", level="info"),
        Example.same("d = tf.data.TFRecordDataset(f).shuffle(10000)", note="soon full"),
        Example.same("d = tf.data.TFRecordDataset(f).shuffle(n)", note="nobody knows"),
        Example.same("random.shuffle(10000000)", note="not a dataset's"),
    ),
)
def large_shuffle(call: Call) -> None:
    """Says of shuffles with a very large buffer what that does to the first step."""
    size = buffer_size(call)
    if size is not None and size >= LARGE:
        call.info(
            f"The first batch comes when this shuffle holds {size} elements, or all where the data has fewer. Leave "
            "enable_data_pre_proc out: with it the device waits for the data of its first step no longer than its time limit. Or "
            "shuffle the names of the files first, and take a buffer of some thousand elements."
        )
