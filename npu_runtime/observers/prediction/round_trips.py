"""Conversions of formats in vain: from blocks to rows and, behind operators that want rows, back to the same blocks."""

from __future__ import annotations

from collections.abc import Sequence

from npu_runtime.lowering.assign_formats import TRANS_DATA
from npu_runtime.lowering.chip_graph import CUBE, ND, Tensor
from npu_runtime.lowering.lower import LoweredTask

_Ways = frozenset[tuple[int, str]]
"""Conversions to rows, by `id` and the format that they came from."""


def round_trips(tasks: Sequence[LoweredTask]) -> set[int]:
    """`id` of both ends of each round trip.

    tasks: in an order of execution.  A way ends at products, which give their results a format of their own.
    """
    open_ways: dict[Tensor, _Ways] = {}
    found: set[int] = set()
    for task in tasks:
        ways: _Ways = frozenset().union(*(open_ways.get(tensor.storage, frozenset()) for tensor in task.read))
        if task.head.op_type == TRANS_DATA:
            came_from = task.head.inputs[0].storage.format  # a task reads nothing of what it computes again
            back = {number for number, blocks in ways if came_from == ND and blocks == task.head.outputs[0].format}
            found |= back | {id(task)} if back else set()
            ways = frozenset() if came_from == ND else frozenset({(id(task), came_from)})
        elif task.head.pattern == CUBE:
            ways = frozenset()
        open_ways.update((tensor.storage, ways) for tensor in task.written if ways)
    return found
