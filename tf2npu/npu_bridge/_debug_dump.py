"""Debug watches of tfdbg: what a run on the device computed is written where TensorFlow would have written it.

The watched tensors are fetched in the same run, so that the dump is of that very step. Its form is that of TensorFlow's
debug dumps: tensorflow.python.debug.lib.debug_data reads it, and with it the command line, hooks and wrappers of tfdbg.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from npu_bridge._log import once
from tensorflow.core.framework import graph_pb2, tensor_pb2
from tensorflow.core.util import event_pb2
from tensorflow.python.framework import dtypes, tensor_shape, tensor_util

from npu_formats.files.directory import Directory
from npu_formats.files.draft import replacing

DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"
_FOLDER = "_tfdbg_device_,job_localhost,replica_0,task_0,device_CPU_0"
_OPS = {"DebugIdentity": lambda value: value, "DebugNanCount": lambda value: np.int64(_count_nan(value))}
_HANDLES = (dtypes.resource, dtypes.variant)
_current = threading.local()


class Watches:
    """The debug watches of one kind of run.  tensors: those that the device can give; skipped: the number of those it cannot."""

    def __init__(self, graph: Any, options: Any, fetches: Sequence[Any], targets: Sequence[Any], feeds: Sequence[Any]) -> None:
        self.request = [list(map(_name, group)) for group in (feeds, fetches, targets)]
        self.operations = _executed(graph, [*fetches, *targets], feeds)
        self.wanted: list[tuple[Any, str, str]] = []
        self.skipped = 0
        self.urls = sorted({url for watch in options.debug_tensor_watch_opts for url in watch.debug_urls})
        for watch in options.debug_tensor_watch_opts:
            self._add(watch)
        self.tensors = list(dict.fromkeys(tensor.ref() for tensor, _, _ in self.wanted))
        self.global_step = options.global_step

    def _add(self, watch: Any) -> None:
        for operation in self.operations:
            if watch.node_name not in ("*", operation.name):
                continue
            for slot, tensor in enumerate(operation.outputs):
                if watch.output_slot in (-1, slot) and tensor.dtype.base_dtype not in _HANDLES:
                    self._want(tensor, watch)

    def _want(self, tensor: Any, watch: Any) -> None:
        in_control_flow = tensor.op._get_control_flow_context() is not None
        if in_control_flow or not tensor.graph.is_fetchable(tensor):
            self.skipped += 1
            return
        for name in watch.debug_ops:
            kind = name.partition("(")[0]
            if kind not in _OPS:
                once(f"tfdbg: the debug operation {kind} is not done on the device; it has {', '.join(_OPS)}")
                continue
            self.wanted += [(tensor, kind, url) for url in watch.debug_urls]


def _name(element: Any) -> str:
    return element.name


def _count_nan(value: np.ndarray) -> int:
    return int(np.isnan(value).sum()) if np.issubdtype(value.dtype, np.floating) else 0


def _executed(graph: Any, wanted: Sequence[Any], feeds: Sequence[Any]) -> list[Any]:
    """The operations that a run executes, in the order they were made."""
    fed = {tensor.name for tensor in feeds}
    work = [getattr(element, "op", element) for element in wanted if element.name not in fed]
    found = set()
    while work:
        operation = work.pop()
        if operation.name not in found:
            found.add(operation.name)
            work += [tensor.op for tensor in operation.inputs if tensor.name not in fed]
            work += operation.control_inputs
    return [operation for operation in graph.get_operations() if operation.name in found]


@contextmanager
def watching(options: Any, run_metadata: Any) -> Iterator[None]:
    """Let the run inside dump what ``options`` watch; without watches it is an ordinary run."""
    is_asked = options is not None and options.debug_options.debug_tensor_watch_opts
    _current.asked = (options.debug_options, run_metadata) if is_asked else None
    try:
        yield
    finally:
        _current.asked = None


def asked() -> tuple[Any, Any] | None:
    """The debug options and the metadata of the run that is being made, if it is to be dumped."""
    return getattr(_current, "asked", None)


def dump(watches: Watches, values: Sequence[Any], run_metadata: Any) -> None:
    """Write the values of ``watches.tensors`` to the folders that the watches name."""
    by_tensor = dict(zip((ref.deref().name for ref in watches.tensors), values, strict=True))
    graph = _graph_of(watches.operations)
    if run_metadata is not None:
        run_metadata.partition_graphs.add().CopyFrom(graph)
    start = int(time.time() * 1e6)
    folders = {url: Path(url.removeprefix("file://")) for url in watches.urls if url.startswith("file://")}
    for url, folder in folders.items():
        _write_about(folder, graph, watches, start)
        wanted = [(tensor, kind) for tensor, kind, place in watches.wanted if place == url]
        for position, (tensor, kind) in enumerate(wanted):
            _write_tensor(folder / _FOLDER, tensor, kind, by_tensor[tensor.name], start + position)
    _tell(watches, folders)


def _tell(watches: Watches, folders: dict[str, Path]) -> None:
    others = [url for url in watches.urls if url not in folders]
    if others:
        once(f"tfdbg: nothing is sent to {', '.join(others)}: the device writes to file:// only")
    inside = f"; {watches.skipped} inside loops and conditions are not" if watches.skipped else ""
    once(f"tfdbg: a run with debug watches: {len(watches.tensors)} tensors are dumped by the device{inside}")


def _graph_of(operations: Sequence[Any]) -> graph_pb2.GraphDef:
    graph = graph_pb2.GraphDef()
    for operation in operations:
        node = graph.node.add()
        node.CopyFrom(operation.node_def)
        node.device = DEVICE
    return graph


def _write_about(folder: Path, graph: graph_pb2.GraphDef, watches: Watches, stamp: int) -> None:
    """The graph that ran, and a line on the run."""
    event = event_pb2.Event(wall_time=stamp / 1e6, graph_def=graph.SerializeToString())
    _put(folder, f"{_FOLDER}/_tfdbg_graph_hash0_{stamp}", event)
    feeds, fetches, targets = watches.request
    about = {
        "global_step": watches.global_step, "session_run_index": 0, "executor_step_index": 0,
        "input_names": feeds, "output_names": fetches, "target_nodes": targets,
    }  # fmt: skip
    event = event_pb2.Event(wall_time=stamp / 1e6)
    event.log_message.message = json.dumps(about)
    _put(folder, f"_tfdbg_core_metadata_{stamp}", event)


def _write_tensor(folder: Path, tensor: Any, kind: str, value: Any, stamp: int) -> None:
    event = event_pb2.Event(wall_time=stamp / 1e6)
    summary = event.summary.value.add(node_name=f"{tensor.name}:{kind}", tag=tensor.op.name)
    summary.tensor.CopyFrom(_proto_of(np.asarray(_OPS[kind](np.asarray(value)))))
    _put(folder, f"{tensor.op.name}_{tensor.value_index}_{kind}_{stamp}", event)


def _put(folder: Path, name: str, event: event_pb2.Event) -> None:
    """A file below the folder that the user named; parts of a node's name are folders, as TensorFlow's debugger has it."""
    with Directory.given(folder, make=True) as place:
        place.make_folders(name.rpartition("/")[0])
        with replacing(place, name) as stream:
            stream.write(event.SerializeToString())


def _proto_of(value: np.ndarray) -> Any:
    """The proto of a value, with the bytes in one piece, scalars too: the reader takes anything else for a tensor without a
    value."""
    if value.dtype.kind in "OSU":
        return tensor_util.make_tensor_proto(value)
    proto = tensor_pb2.TensorProto(dtype=dtypes.as_dtype(value.dtype).as_datatype_enum, tensor_content=value.tobytes())
    proto.tensor_shape.CopyFrom(tensor_shape.TensorShape(value.shape).as_proto())
    return proto
