"""Readers and queues of TensorFlow 1."""

from __future__ import annotations

from tf2npu.rules.base import Example, rule
from tf2npu.scanner.sites import Call

_INSTEAD = {
    "TFRecordReader": "tf.data.TFRecordDataset(files)",
    "TextLineReader": "tf.data.TextLineDataset(files)",
    "FixedLengthRecordReader": "tf.data.FixedLengthRecordDataset(files, record_bytes)",
    "WholeFileReader": "tf.data.Dataset.from_tensor_slices(files).map(tf.read_file)",
    "IdentityReader": "tf.data.Dataset.from_tensor_slices(items)",
    "LMDBReader": "tf.data.Dataset.from_generator over the lmdb package",
    "train.match_filenames_once": "tf.data.Dataset.list_files(pattern)",
    "contrib.training.bucket_by_sequence_length": "tf.data.experimental.bucket_by_sequence_length",
    "contrib.slim.dataset_data_provider.DatasetDataProvider": "tf.data.TFRecordDataset(dataset.data_sources).map(parse)",
    "contrib.slim.prefetch_queue.prefetch_queue": "dataset.prefetch(n)",
    "contrib.slim.parallel_reader.parallel_read": "dataset.interleave(tf.data.TFRecordDataset)",
}
_QUEUES = ("FIFOQueue", "PaddingFIFOQueue", "RandomShuffleQueue", "PriorityQueue")
_TABLE = {
    **{f"tensorflow.{name}": code for name, code in _INSTEAD.items()},
    **{f"tensorflow.{name}": "tf.data (from_generator, shuffle, padded_batch, prefetch)" for name in _QUEUES},
    **{f"tensorflow.queue.{name}": "tf.data (from_generator, shuffle, padded_batch, prefetch)" for name in _QUEUES},
}


@rule(
    id="NPU924",
    title="Readers and queues",
    matches=tuple(_TABLE),
    why="Readers and queues are resources of the host with threads of their own; the NPU is fed by tf.data.",
    done_when="The summary of `tf2npu run` names no queue and no reader among the nodes on the host.",
    source="TensorFlow adapter porting guide: queue readers are not supported, tf.data is",
    examples=(
        Example.same("r = tf.TFRecordReader()", level="unsupported", write="d = tf.data.TFRecordDataset(files)"),
        Example.same("d = tf.data.TFRecordDataset(files)", note="tf.data already"),
        Example.same("import queue\nq = queue.PriorityQueue()", note="Python's own queue"),
    ),
)
def queue_reader(call: Call) -> None:
    """Reports readers and queues and names what tf.data has in their place."""
    call.unsupported(
        "Readers and queues run on the simulated device, which leaves them to the host, and are not supported on an NPU: use "
        f"{_TABLE[call.name]}."
    )
