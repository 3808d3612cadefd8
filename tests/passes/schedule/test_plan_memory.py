"""The memory plan of random programs."""

from __future__ import annotations

from hypothesis import given, settings

from npu_runtime import dtypes as dt
from npu_runtime.analysis.aliasing import may_alias
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.kernels.base import all_kernels
from npu_runtime.passes.schedule.plan_memory import FOREVER, plan_memory
from tests.how_many import drawn
from tests.passes.graphs import ELEMENTWISE, programs


@given(programs())
@settings(max_examples=drawn(150), deadline=None)
def test_buffers_alive_at_one_time_never_overlap(program: tuple[Graph, list[Node]]) -> None:
    """Executes the plan symbolically: every read must find the bytes that its writer left there."""
    graph, order = program
    plan = plan_memory(graph, order, dict.fromkeys(graph.fetches, FOREVER))
    owner: dict[int, Value] = {}
    shows: dict[Value, list[Value]] = {}

    def bytes_of(value: Value) -> range:
        offset = plan.offsets_bytes[value]
        return range(offset, offset + 4 * 8 * dt.itemsize_bytes("float32"), 64)

    def check(value: Value) -> None:
        for origin in shows.get(value, []):
            assert all(owner[block] == origin for block in bytes_of(origin)), f"{value} lost {origin}"

    for node in order:
        for value in node.inputs:
            check(value)
        result = Value(node.name)
        if may_alias(node):
            shows[result] = shows.get(node.inputs[0], [])
        else:
            shows[result] = [result]
            owner.update(dict.fromkeys(bytes_of(result), result))
    for value in graph.fetches:
        check(value)
    assert plan.live_bytes <= plan.arena_bytes
    assert all(kernel in all_kernels() for kernel in ELEMENTWISE)
