"""Raw records of collectives: which operator it is and, below it, the part of it that this device runs.

Source of the layouts and numbers: the vendor's public parser (Ascend/msprof, hccl_info_common.py and
data_struct_size_constant.py).
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

from npu_runtime.observers.profiler.element_types import item_bytes
from npu_runtime.observers.profiler.host_log import COMMUNICATION, NODE, Launch
from npu_runtime.observers.profiler.raw.names import Names, header
from npu_runtime.simulation.run_record import DeviceRun, TensorDescription

GROUP = "hccl_world_group"
"""The group of all ranks. Source: HCCL's default group."""
PART = "Reduce_Inline"
"""The only part of a simulated collective: one transfer that adds up on arrival."""
_ALGORITHM = "N/A"
"""The record of a run does not say by which algorithm a collective went."""
_DATA_TYPES = {
    "int8": 0, "int16": 1, "int32": 2, "float16": 3, "float32": 4, "int64": 5, "uint64": 6, "uint8": 7, "uint16": 8, "uint32": 9,
    "float64": 10, "bfloat16": 11,
}  # fmt: skip
"""Element types as HCCL numbers them."""
_NO_TYPE = 255
"""Value for a type that HCCL does not send."""
_SUM, _HCCS, _SDMA = 0, 1, 0
"""Numbers of the addition, of the link between devices of a server, and of the engine that moves data over it."""
_NO_PART = 4294967295
"""Value for a task that has no parts."""

_OPERATOR = struct.Struct("<BBQQQ14B")
_TASK = struct.Struct("<QQQ6IQ2Id3Q6I112B")


def communication_files(names: Names, launches: Sequence[Launch], run: DeviceRun) -> dict[str, bytes]:
    """The files of host/data about collectives, by name; none where there are none."""
    if not launches:
        return {}
    return {
        "unaging.compact.hccl_op_info.slice_0": b"".join(_operator(names, launch) for launch in launches),
        "unaging.additional.hccl_info.slice_0": b"".join(_task(names, launch, run) for launch in launches),
    }


def _moved(launch: Launch) -> TensorDescription:
    tensors = launch.numbered.task.inputs or launch.numbered.task.outputs
    return tensors[0] if tensors else TensorDescription((0,), "float32")


def _operator(names: Names, launch: Launch) -> bytes:
    moved = _moved(launch)
    kind = _DATA_TYPES.get(moved.dtype, _NO_TYPE)
    body = _OPERATOR.pack(0, kind, names.of(_ALGORITHM), math.prod(moved.shape), names.of(GROUP), *[0] * 14)
    return header(names, NODE, "hccl_op_info", launch.node, _OPERATOR, launch.node.end) + body


def _task(names: Names, launch: Launch, run: DeviceRun) -> bytes:
    moved, call = _moved(launch), launch.communication
    assert call is not None
    rank = max(run.rank_id, 0)
    ranks = (rank, (rank + 1) % run.n_ranks, run.n_ranks)
    n_bytes = math.prod(moved.shape) * item_bytes(moved.dtype)
    body = _TASK.pack(
        names.of(PART), 0, names.of(GROUP), *ranks, 0, 0, _NO_PART, 0, 0, 0, launch.numbered.task.cost.us, 0, 0, n_bytes,
        _SUM, _DATA_TYPES.get(moved.dtype, _NO_TYPE), _HCCS, _SDMA, _NO_TYPE, 0, *[0] * 112,
    )  # fmt: skip
    return header(names, COMMUNICATION, "hccl_info", call, _TASK, call.end) + body
