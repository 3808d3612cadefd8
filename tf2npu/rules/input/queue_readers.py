"""Readers and queues of TensorFlow 1."""

from __future__ import annotations

import libcst as cst

from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.written_code import given
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
_OF_FILES = ("TFRecordReader", "TextLineReader", "WholeFileReader", "IdentityReader")
"""Readers whose dataset needs the files alone."""
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
        f"{_TABLE[call.name]}.",
        _code(call),
    )


def _code(call: Call) -> str:
    """The dataset in the place of this reader or queue; `files`, `generator` and `parse` are the user's."""
    tf, name = call.script.tensorflow_name, call.name.removeprefix("tensorflow.")
    if not tf:
        return ""
    if name in _OF_FILES:
        return f"dataset = {_INSTEAD[name].replace('tf.', f'{tf}.')}"
    if name.endswith("DatasetDataProvider"):
        files = given(call, "dataset", 0)
        return f"dataset = {tf}.data.TFRecordDataset({files}.data_sources).map(parse)" if files.isidentifier() else ""
    return _queue_code(call, tf, name.rpartition(".")[2]) if name.endswith(_QUEUES) else ""


def _queue_code(call: Call, tf: str, name: str) -> str:
    """Elements that a function of Python yields, as many of them at hand as the queue held."""
    at = 2 if name == "RandomShuffleQueue" else 1
    capacity, types = given(call, "capacity", 0), _several(call, "dtypes", at)
    if name == "PriorityQueue" or not types or not capacity:
        return ""
    shapes = _several(call, "shapes", at + 1)
    given_shapes = f", {shapes}" if shapes else ""
    held = f".shuffle({capacity})" if name == "RandomShuffleQueue" else f".prefetch({capacity})"
    return f"dataset = {tf}.data.Dataset.from_generator(generator, {types}{given_shapes}){held}"


def _several(call: Call, keyword: str, position: int) -> str:
    """What is given for several components, as the tuple that a dataset wants; "" where it may be one alone."""
    value, text = call.value(keyword, position), given(call, keyword, position)
    are_many = isinstance(value, (cst.List, cst.Tuple)) or (isinstance(value, cst.Name) and value.value.endswith("s"))
    return f"tuple({text})" if are_many and text else ""
