"""The memory that the results of a step take on the chip: what each task makes, and which task reads it last."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from npu_runtime.lowering.chip_graph import Tensor
from npu_runtime.lowering.lower import LoweredTask

Buffer = tuple[str, int, int, int]
"""Name of the task that makes it, bytes, position of that task and of the last one that needs it."""


def buffers_of(tasks: Sequence[LoweredTask], fetched: Collection[str] = ()) -> list[Buffer]:
    """A buffer for each result in memory of its own, in the order of the tasks, in the chip's formats and types.

    fetched: tensors ("node:output") that the host reads when the step is over.  Views have no memory of their own, variables
    outlive the step, and what is made inside of a turn of a loop counts with the loop.
    """
    last: dict[Tensor, int] = {}
    for position, task in enumerate(tasks):
        last.update((tensor.storage, position) for tensor in task.read)
    found = []
    for position, task in enumerate(tasks):
        for tensor in dict.fromkeys(tensor.storage for tensor in task.written):
            if not _is_buffer(tensor, task):
                continue
            is_kept = tensor not in last or tensor.name in fetched
            end = len(tasks) - 1 if is_kept else max(position, last[tensor])
            found.append((task.name, int(tensor.n_bytes), position, end))
    return found


def _is_buffer(tensor: Tensor, task: LoweredTask) -> bool:
    return not (tensor.is_variable or tensor.is_constant) and tensor.producer in task.ops and tensor.n_bytes > 0
