"""The raw part of the host: one file a kind of record, as the device's driver leaves them and the vendor's parser reads them.

Records are packed and little endian. Source of the layouts: the vendor's public parser (Ascend/msprof, analysis/msparser).
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator, Sequence

from npu_runtime.profiler.element_types import FORMAT_NUMBERS, TYPE_NUMBERS
from npu_runtime.profiler.host_log import MODEL, NODE, RUNTIME, HostCall, HostLog, Launch
from npu_runtime.simulation.run_record import DeviceTask, TensorDescription

MAGIC = 0x5A5A
"""First two bytes of every record of the host."""
N_TENSORS = 5
"""Tensors that a record has room for; a task with more has several records."""
N_DIMENSIONS = 8
"""Dimensions of a tensor in a record, 0 where there are fewer."""
TASK_TYPES = {"AI_CORE": 0, "AI_CPU": 1, "AI_VECTOR_CORE": 2}
"""Numbers of the kinds of kernels in a node's description."""
KERNEL_TYPES = {"AI_CORE": "KERNEL_AICORE", "AI_CPU": "KERNEL_AICPU", "AI_VECTOR_CORE": "KERNEL_AIVEC"}
"""The same as the runtime calls them; copies and collectives keep their names."""
_NUMBER_BYTES = 7
"""Bytes of a name's number: fewer than 8, since the parser's database has signed integers of 8."""

_HEADER = struct.Struct("<HHIIIQ")
_API = struct.Struct("<HHIIIQQQ")
_GRAPH = struct.Struct("<QI55I")
_NODE = struct.Struct("<QIQIIQI")
_TENSORS = struct.Struct("<QI55I")
_TRACK = struct.Struct("<HHHHQQ16B")


class Names:
    """Numbers that stand for names in records, and the dictionaries that give the names back."""

    def __init__(self) -> None:
        self._names: dict[str, int] = {}
        self._types: dict[tuple[int, str], int] = {}

    def of(self, name: str) -> int:
        """The number of a name of a node, type, model or kernel: of its text alone, so that runs agree."""
        if name not in self._names:
            digest = hashlib.blake2b(name.encode(), digest_size=_NUMBER_BYTES).digest()
            self._names[name] = int.from_bytes(digest, "little")
        return self._names[name]

    def of_type(self, level: int, name: str) -> int:
        """The number of a kind of call or record within its level."""
        return self._types.setdefault((level, name), len(self._types) + 1)

    def dictionary(self) -> bytes:
        """`number:name` a line."""
        return "".join(f"{number}:{name}\n" for name, number in self._names.items()).encode()

    def type_dictionary(self) -> bytes:
        """`level_number:name` a line."""
        return "".join(f"{level}_{number}:{name}\n" for (level, name), number in self._types.items()).encode()


def host_files(host: HostLog, device_id: int, *, with_nodes: bool) -> dict[str, bytes]:
    """The files of host/data by name.  with_nodes: whether types and tensors of nodes are collected (level 1)."""
    names = Names()
    launches = [launch for model in host.launches for launch in model]
    files = {
        "unaging.api_event.data.slice_0": b"".join(_call(names, call) for call in host.calls()),
        "unaging.additional.graph_id_map.slice_0": b"".join(_graphs(names, host)),
        "unaging.compact.task_track.slice_0": b"".join(_track(names, launch, device_id) for launch in launches),
    }
    for state, is_dynamic in (("unaging", False), ("aging", True)) if with_nodes else ():
        chosen = [launch for launch in launches if launch.numbered.is_kernel and launch.numbered.task.is_dynamic == is_dynamic]
        if chosen:
            files[f"{state}.compact.node_basic_info.slice_0"] = b"".join(_node(names, launch) for launch in chosen)
            tensors = b"".join(record for launch in chosen for record in _tensor_records(names, launch))
            files[f"{state}.additional.tensor_info.slice_0"] = tensors
    files["unaging.additional.hash_dic.slice_0"] = names.dictionary()
    files["unaging.additional.type_info_dic.slice_0"] = names.type_dictionary()
    return files


def _call(names: Names, call: HostCall) -> bytes:
    item = call.item if isinstance(call.item, int) else names.of(call.item)
    return _API.pack(MAGIC, call.level, names.of_type(call.level, call.name), call.thread, 0, call.begin, call.end, item)


def _header(names: Names, level: int, kind: str, call: HostCall, body: struct.Struct, at: int) -> bytes:
    return _HEADER.pack(MAGIC, level, names.of_type(level, kind), call.thread, body.size, at)


def _graphs(names: Names, host: HostLog) -> Iterator[bytes]:
    for number, (model, load) in enumerate(zip(host.models, host.loads, strict=True)):
        yield _header(names, MODEL, "graph_id_map", load, _GRAPH, load.begin + 1)
        yield _GRAPH.pack(names.of(model.run.name), number, *[0] * 55)


def _node(names: Names, launch: Launch) -> bytes:
    task = launch.numbered.task
    body = _NODE.pack(
        names.of(task.name), TASK_TYPES[task.task_type], names.of(task.op_type), task.cost.n_blocks, 0, 0, 0
    )
    return _header(names, NODE, "node_basic_info", launch.node, _NODE, launch.node.end) + body


def _tensor_records(names: Names, launch: Launch) -> Iterator[bytes]:
    task = launch.numbered.task
    described = [(0, tensor) for tensor in task.inputs] + [(1, tensor) for tensor in task.outputs]
    for first in range(0, len(described), N_TENSORS):
        part = described[first : first + N_TENSORS]
        words = [word for side, tensor in part for word in _tensor_words(side, tensor)]
        words += [0] * (55 - len(words))
        yield _header(names, NODE, "tensor_info", launch.node, _TENSORS, launch.node.end)
        yield _TENSORS.pack(names.of(task.name), len(part), *words)


def _tensor_words(side: int, tensor: TensorDescription) -> Sequence[int]:
    sizes = [size & 0xFFFFFFFF for size in tensor.shape[:N_DIMENSIONS]]
    padding = [0] * (N_DIMENSIONS - len(sizes))
    return [side, FORMAT_NUMBERS[tensor.format], TYPE_NUMBERS[tensor.dtype], *sizes, *padding]


def _track(names: Names, launch: Launch, device_id: int) -> bytes:
    numbered = launch.numbered
    kind = names.of_type(RUNTIME, KERNEL_TYPES.get(numbered.task.task_type, numbered.task.task_type))
    kernel = names.of(_kernel_name(numbered.task))
    body = _TRACK.pack(device_id, numbered.stream, numbered.task_id, 0, kind, kernel, *[0] * 16)
    return _header(names, RUNTIME, "task_track", launch.runtime, _TRACK, launch.runtime.end) + body


def _kernel_name(task: DeviceTask) -> str:
    """The simulated operator library has no files of its own: a kernel has its task's name."""
    return task.name
