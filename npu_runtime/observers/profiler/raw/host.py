"""The raw part of the host: one file a kind of record, as the device's driver leaves them and the vendor's parser reads them.

Records are packed and little endian. Source of the layouts: the vendor's public parser (Ascend/msprof, analysis/msparser).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

from npu_runtime.observers.profiler.element_types import FORMAT_NUMBERS, TYPE_NUMBERS, UNDEFINED
from npu_runtime.observers.profiler.host_log import MODEL, NODE, RUNTIME, HostCall, HostLog, Launch
from npu_runtime.observers.profiler.raw.communication import communication_files
from npu_runtime.observers.profiler.raw.names import MAGIC, Names, header
from npu_runtime.simulation.run_record import DeviceRun, DeviceTask, TensorDescription

N_TENSORS = 5
"""Tensors that a record has room for; a task with more has several records."""
N_DIMENSIONS = 8
"""Dimensions of a tensor in a record, 0 where there are fewer."""
TASK_TYPES = {"AI_CORE": 0, "AI_CPU": 1, "AI_VECTOR_CORE": 2, "COMMUNICATION": 9}
"""Numbers of the kinds of tasks in a node's description."""
KERNEL_TYPES = {"AI_CORE": "KERNEL_AICORE", "AI_CPU": "KERNEL_AICPU", "AI_VECTOR_CORE": "KERNEL_AIVEC"}
"""The same as the runtime calls them; copies and collectives keep their names."""

_API = struct.Struct("<HHIIIQQQ")
_GRAPH = struct.Struct("<QI55I")
_NODE = struct.Struct("<QIQIIQI")
_TENSORS = struct.Struct("<QI55I")
_TRACK = struct.Struct("<HHHHQQ16B")


def host_files(host: HostLog, run: DeviceRun, *, with_nodes: bool) -> dict[str, bytes]:
    """The files of host/data by name.  with_nodes: whether types and tensors of nodes are collected (level 1)."""
    names = Names()
    launches = [launch for model in host.launches for launch in model]
    files = {
        "unaging.api_event.data.slice_0": b"".join(_call(names, call) for call in host.calls()),
        "unaging.additional.graph_id_map.slice_0": b"".join(_graphs(names, host)),
        "unaging.compact.task_track.slice_0": b"".join(_track(names, launch, run.device_id) for launch in launches),
    }
    if with_nodes:
        described = [launch for launch in launches if launch.numbered.is_kernel or launch.communication]
        for state, is_dynamic in (("unaging", False), ("aging", True)):
            files |= _nodes(names, state, [launch for launch in described if launch.numbered.task.is_dynamic == is_dynamic])
    files |= communication_files(names, [launch for launch in launches if launch.communication], run)
    files["unaging.additional.hash_dic.slice_0"] = names.dictionary()
    files["unaging.additional.type_info_dic.slice_0"] = names.type_dictionary()
    return files


def _call(names: Names, call: HostCall) -> bytes:
    item = call.item if isinstance(call.item, int) else names.of(call.item)
    return _API.pack(MAGIC, call.level, names.of_type(call.level, call.name), call.thread, 0, call.begin, call.end, item)


def _graphs(names: Names, host: HostLog) -> Iterator[bytes]:
    for number, (model, load) in enumerate(zip(host.models, host.loads, strict=True)):
        yield header(names, MODEL, "graph_id_map", load, _GRAPH, load.begin + 1)
        yield _GRAPH.pack(names.of(model.run.name), number, *[0] * 55)


def _nodes(names: Names, state: str, launches: Sequence[Launch]) -> dict[str, bytes]:
    """Descriptions of nodes. Those of dynamic shapes have files of their own, by which the parser knows them."""
    if not launches:
        return {}
    tensors = b"".join(record for launch in launches for record in _tensor_records(names, launch))
    return {
        f"{state}.compact.node_basic_info.slice_0": b"".join(_node(names, launch) for launch in launches),
        f"{state}.additional.tensor_info.slice_0": tensors,
    }


def _node(names: Names, launch: Launch) -> bytes:
    task = launch.numbered.task
    body = _NODE.pack(names.of(task.name), TASK_TYPES[task.task_type], names.of(task.op_type), task.cost.n_blocks, 0, 0, 0)
    return header(names, NODE, "node_basic_info", launch.node, _NODE, launch.node.end) + body


def _tensor_records(names: Names, launch: Launch) -> Iterator[bytes]:
    task = launch.numbered.task
    described = [(0, tensor) for tensor in task.inputs] + [(1, tensor) for tensor in task.outputs]
    for first in range(0, len(described), N_TENSORS):
        part = described[first : first + N_TENSORS]
        words = [word for side, tensor in part for word in _tensor_words(side, tensor)]
        words += [0] * (55 - len(words))
        yield header(names, NODE, "tensor_info", launch.node, _TENSORS, launch.node.end)
        yield _TENSORS.pack(names.of(task.name), len(part), *words)


def _tensor_words(side: int, tensor: TensorDescription) -> Sequence[int]:
    sizes = [size & 0xFFFFFFFF for size in tensor.shape[:N_DIMENSIONS]]
    padding = [0] * (N_DIMENSIONS - len(sizes))
    return [side, FORMAT_NUMBERS.get(tensor.format, UNDEFINED), TYPE_NUMBERS.get(tensor.dtype, UNDEFINED), *sizes, *padding]


def _track(names: Names, launch: Launch, device_id: int) -> bytes:
    numbered = launch.numbered
    kind = names.of_type(RUNTIME, KERNEL_TYPES.get(numbered.task.task_type, numbered.task.task_type))
    kernel = names.of(_kernel_name(numbered.task))
    body = _TRACK.pack(device_id, numbered.stream, numbered.task_id, 0, kind, kernel, *[0] * 16)
    return header(names, RUNTIME, "task_track", launch.runtime, _TRACK, launch.runtime.end) + body


def _kernel_name(task: DeviceTask) -> str:
    """The simulated operator library has no files of its own: a kernel has its task's name."""
    return task.name
