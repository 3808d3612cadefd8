"""Collectives on a timeline: each operator, and below it the part that this device runs. Source of names: the vendor's parser."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from npu_formats.intervals import lanes
from npu_runtime.observers.profiler.clocks import TICK_NS
from npu_runtime.observers.profiler.collective_names import CollectiveNames
from npu_runtime.observers.profiler.device_log import DeviceLog, LoggedTask
from npu_runtime.observers.profiler.element_types import item_bytes
from npu_runtime.observers.profiler.raw.communication import GROUP, PART
from npu_runtime.observers.profiler.task_tables import collectives
from npu_runtime.observers.profiler.trace_events import Process, at_tick, slice_event, tick_duration

_ORDER = 17
"""Place of the group of tracks from the top."""
_TYPE_NAMES = {
    "int8": "INT8", "int16": "INT16", "int32": "INT32", "float16": "FP16", "float32": "FP32", "int64": "INT64",
    "uint64": "UINT64", "uint8": "UINT8", "uint16": "UINT16", "uint32": "UINT32", "float64": "FP64", "bfloat16": "BFP16",
}  # fmt: skip
"""Element types as HCCL names them."""


def communication_events(log: DeviceLog, connections: Mapping[int, int]) -> Iterator[str]:
    """Collectives of one group. Those that overlap in time are on tracks of their own.

    connections: number of the launch of a task, by the identity of the numbered task.
    """
    tasks = collectives(log)
    if not tasks:
        return
    process = Process("Communication", _ORDER, f"NPU {log.run.device_id}", log.run.device_id)
    chosen = lanes((task.start, task.end) for task in tasks)
    n_lanes = 1 + max(chosen)
    operators = {lane: f"Group {GROUP} Communication" + (f" {lane + 1}" if lane else "") for lane in range(n_lanes)}
    yield from process.head(operators | {n_lanes + lane: f"Plane {lane}" for lane in range(n_lanes)})
    names = CollectiveNames(log)
    for lane, task in zip(chosen, tasks, strict=True):
        name, start, length = names.next_name(task.numbered), at_tick(task.start), tick_duration(task.end - task.start)
        connection = connections[id(task.numbered)]
        yield slice_event(process, lane, name, start, length, _operator(log, task, connection))
        yield slice_event(process, n_lanes + lane, PART, start, length, _part(log, task))


def _operator(log: DeviceLog, task: LoggedTask, connection: int) -> dict[str, object]:
    dtype, count, _ = _moved(task)
    return {
        "connection_id": connection, "model id": task.numbered.model_id, "data_type": dtype, "alg_type": "N/A", "count": count,
        "rank_size": log.run.n_ranks, "relay": "no", "retry": "no",
    }  # fmt: skip


def _part(log: DeviceLog, task: LoggedTask) -> dict[str, object]:
    dtype, _, n_bytes = _moved(task)
    rank = max(log.run.rank_id, 0)
    ns = (task.end - task.start) * TICK_NS
    return {
        "notify id": "0", "duration estimated(us)": task.numbered.task.cost.us, "stream id": task.numbered.stream,
        "task id": task.numbered.task_id, "task type": PART, "src rank": rank, "dst rank": (rank + 1) % log.run.n_ranks,
        "transport type": "SDMA", "size(Byte)": n_bytes, "data type": dtype, "link type": "HCCS",
        "bandwidth(GB/s)": n_bytes / ns if ns else 0.0, "model id": task.numbered.model_id,
    }  # fmt: skip


def _moved(task: LoggedTask) -> tuple[str, int, int]:
    """Element type, elements and bytes of what a collective adds up."""
    tensors = task.numbered.task.inputs or task.numbered.task.outputs
    if not tensors:
        return "N/A", 0, 0
    count = math.prod(tensors[0].shape)
    return _TYPE_NAMES.get(tensors[0].dtype, "N/A"), count, count * item_bytes(tensors[0].dtype)
