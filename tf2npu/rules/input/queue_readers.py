"""Readers and queues of TensorFlow 1."""

from __future__ import annotations

from typing import Any

import libcst as cst

from tf2npu.frameworks.tensorflow1.project import tensorflow_in
from tf2npu.frameworks.tensorflow1.scripts import tensorflow_name
from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.written_code import can_be_repeated, given
from tf2npu.scanner.names import root_of
from tf2npu.scanner.sites import Call
from tf2npu.scanner.tree_walk import dotted_name

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
_WITH_CODE = ("PaddingFIFOQueue", "RandomShuffleQueue")
"""Queues that a dataset takes the place of: a FIFOQueue runs as it is, and no dataset sorts by a priority."""
_PREFETCHED = 8
"""Capacity that prefetch_queue of tf.contrib.slim has where none is given."""
_TABLE = {
    **{f"tensorflow.{name}": code for name, code in _INSTEAD.items()},
    **{f"tensorflow.{name}": "tf.data (from_generator, shuffle, padded_batch, prefetch)" for name in _QUEUES},
    **{f"tensorflow.queue.{name}": "tf.data (from_generator, shuffle, padded_batch, prefetch)" for name in _QUEUES},
}
_LISTED = frozenset(("TFRecordReader", "TextLineReader", "FixedLengthRecordReader", *_QUEUES))
"""Readers and queues that the guide does not support and the published list does."""
_SEEN = {"FIFOQueue": "VDSR_ID2114"}
"""Queues of these that a network of the vendor's model zoo trains with on an Ascend 910, without mix_compile_mode.

Source: its VDSR.py (USE_QUEUE_LOADING) in the ModelZoo-TensorFlow repository, whose record has FuncStatus and PrecisionStatus OK.
"""
_SEEN_MIXED = {"TFRecordReader": "VAT_ID1002"}
"""Readers of these that a network there trains with under mix_compile_mode=True.

Source: code/dataset_utils.py (read, shuffle_batch) and code/train_semisup.py of that network, whose record has FuncStatus and
PrecisionStatus OK.  Elsewhere tf.data has taken the place of a TFRecordReader that is left in a file.
"""
_WHOLE = "tensorflow.WholeFileReader"


@rule(
    id="NPU924",
    title="Readers and queues",
    matches=tuple(_TABLE),
    why="Readers and queues are resources of the host with threads of their own; the NPU is fed by tf.data.",
    done_when="The summary of `tf2npu run` names no queue and no reader among the nodes on the host.",
    source="TensorFlow adapter porting guide: queue readers are not supported, tf.data is; the vendor's published support "
    "levels, which support some; a network of the vendor's model zoo that trains with one",
    examples=(
        Example.same("r = tf.TextLineReader()", level="manual", write="d = tf.data.TextLineDataset(files)"),
        Example.same("r = tf.LMDBReader()", level="unsupported"),
        Example.same("q = tf.FIFOQueue(9, [tf.int32])", level="info", note="what a published network trains with"),
        Example(
            "reader = tf.WholeFileReader()\npath, data = reader.read(queue)",
            "path = queue.dequeue()\ndata = tf.read_file(path)",
            note="a file is read without a reader",
        ),
        Example.same("d = tf.data.TFRecordDataset(files)", note="tf.data already"),
        Example.same("import queue\nq = queue.PriorityQueue()", note="Python's own queue"),
    ),
)
def queue_reader(call: Call) -> None:
    """Reads whole files without a reader, reports other readers and queues, and names what tf.data has in their place."""
    kind = call.name.rpartition(".")[2]
    if call.name == _WHOLE and _read_without_it(call):
        call.fixed(
            "Whole files are read with tf.read_file, which is what a reader of whole files does: an NPU host does not support it."
        )
    elif kind in _SEEN:
        call.info(
            f"It runs as it is: the host reads, here and on an NPU, where a network of the vendor's model zoo ({_SEEN[kind]}) "
            f"trains so, though the porting guide advises against it. tf.data feeds the NPU faster: {_TABLE[call.name]}."
        )
    elif kind in _SEEN_MIXED and call.script.path in tensorflow_in(call.script.project).mixed_graphs:
        call.info(
            f"The host reads. {_SEEN_MIXED[kind]} of the vendor's model zoo trains so on an NPU. mix_compile_mode is set (or "
            f"asked for) at the session. tf.data is faster: {_TABLE[call.name]}."
        )
    elif kind in _LISTED:
        call.manual(
            "Readers and queues run on the simulated device, which leaves them to the host; for an NPU the vendor's guide has "
            f"this one as not supported and the published list as supported. Test it there, or use {_TABLE[call.name]}.",
            _code(call),
        )
    else:
        call.unsupported(
            "Readers and queues run on the simulated device, which leaves them to the host, and are not supported on an NPU: use "
            f"{_TABLE[call.name]}.",
            _code(call),
        )


def _read_without_it(call: Call) -> bool:
    """Write `path, data = reader.read(queue)` as what it does, where that is all that the reader is for."""
    script, func = call.script, call.node.func
    assign = script.walked.parents.get(id(call.node))
    target = assign.targets[0].target if isinstance(assign, cst.Assign) and len(assign.targets) == 1 else None
    if not isinstance(target, cst.Name) or call.args or not isinstance(func, cst.Attribute):
        return False
    if len(call.scope.lookup(target.value)) != 1 or call.resolve(func.value) != "tensorflow":
        return False
    uses = [
        node
        for node, scope in script.walked.references
        if root_of(dotted_name(node)) == target.value and scope.lookup_scope(target.value) is call.scope
    ]
    statements = [_reading(call, node) for node in uses]
    reads = [statement for statement in statements if statement is not None]
    if not reads or len(reads) < len(uses):
        return False
    for statement in reads:
        _dequeue(call, statement, call.source(func.value))
    if assign is None or not call.delete_statement(assign):
        call.replace(call.node, "None")
    return True


def _reading(call: Call, use: cst.CSTNode) -> cst.Assign | None:
    """The statement `path, data = reader.read(queue)` around a use of a reader, alone on its lines."""
    script, parents = call.script, call.script.walked.parents
    read: Any = parents.get(id(use))
    statement: Any = parents.get(id(read))
    line: Any = parents.get(id(statement))
    if not (isinstance(use, cst.Attribute) and use.attr.value == "read" and isinstance(read, cst.Call) and len(read.args) == 1):
        return None
    if not isinstance(statement, cst.Assign) or len(statement.targets) != 1 or not isinstance(line, cst.SimpleStatementLine):
        return None
    target: Any = statement.targets[0].target
    names = [call.source(e.value) for e in target.elements] if isinstance(target, cst.Tuple) and not target.lpar else []
    is_plain = len(line.body) == 1 and read.args[0].star == "" and dotted_name(read.args[0].value)
    if len(names) != 2 or names[0] == names[1] or not is_plain or script.comments(*script.tree.span(statement)):
        return None
    return statement


def _dequeue(call: Call, statement: cst.Assign, module: str) -> None:
    """`path, data = reader.read(queue)` -> `path = queue.dequeue()` and, on a line of its own, `data = tf.read_file(path)`."""
    script, read, target = call.script, statement.value, statement.targets[0].target
    assert isinstance(read, cst.Call) and isinstance(target, cst.Tuple)
    path, data = (call.source(element.value) for element in target.elements)
    start, end = script.tree.span(statement)
    indent = script.text[script.lines.line_start(start) : start]
    queue = call.source(read.args[0].value)
    if path == "_":
        return call.replace_range(start, end, f"{data} = {module}.read_file({queue}.dequeue())")
    then = f"{script.newline_at(start)}{indent}{data} = {module}.read_file({path})"
    return call.replace_range(start, end, f"{path} = {queue}.dequeue(){then}")


def _code(call: Call) -> str:
    """The dataset in the place of this reader or queue; `files`, `generator` and `parse` are the user's."""
    tf, name = tensorflow_name(call.script), call.name.removeprefix("tensorflow.")
    if not tf:
        return ""
    if name in _OF_FILES:
        return f"dataset = {_INSTEAD[name].replace('tf.', f'{tf}.')}"
    if name.endswith("DatasetDataProvider"):
        files = call.value("dataset", 0)  # given by its name also where more comes out of **kwargs
        return (
            f"dataset = {tf}.data.TFRecordDataset({files.value}.data_sources).map(parse)" if isinstance(files, cst.Name) else ""
        )
    if name.endswith("prefetch_queue"):
        return f"dataset = dataset.prefetch({given(call, 'capacity', 1) or _PREFETCHED})"
    if name.endswith("bucket_by_sequence_length"):
        return _bucket_code(call, tf)
    return _queue_code(call, tf, name.rpartition(".")[2]) if name.endswith(_WITH_CODE) else ""


def _bucket_code(call: Call, tf: str) -> str:
    """Batches of examples of like length, with the boundaries and the size of batches that are given."""
    size, boundaries = given(call, "batch_size", 2), given(call, "bucket_boundaries", 3)
    if not size or not can_be_repeated(call.value("bucket_boundaries", 3)):
        return ""
    sizes = f"[{size}] * (len({boundaries}) + 1)"
    buckets = f"{tf}.data.experimental.bucket_by_sequence_length(length, {boundaries}, {sizes}, drop_remainder=True)"
    return f"dataset = dataset.apply({buckets})  # length: gives that of an example"


def _queue_code(call: Call, tf: str, name: str) -> str:
    """Elements that a function of Python yields, as many of them at hand as the queue held."""
    at = 2 if name == "RandomShuffleQueue" else 1
    capacity, types = given(call, "capacity", 0), _several(call, "dtypes", at)
    if not types or not capacity:
        return ""
    shapes = _several(call, "shapes", at + 1)
    given_shapes = f", {shapes}" if shapes else ""
    held = f".shuffle({capacity})" if name == "RandomShuffleQueue" else f".prefetch({capacity})"
    return f"dataset = {tf}.data.Dataset.from_generator(generator, {types}{given_shapes}){held}"


def _several(call: Call, keyword: str, position: int) -> str:
    """The argument for several components, as the tuple that a dataset wants; "" where it may be one alone."""
    value, text = call.value(keyword, position), given(call, keyword, position)
    are_many = isinstance(value, (cst.List, cst.Tuple)) or (isinstance(value, cst.Name) and value.value.endswith("s"))
    return f"tuple({text})" if are_many and text else ""
