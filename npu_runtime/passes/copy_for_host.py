"""Before: VariableV2 -> Identity -> HistogramSummary(host).  After: VariableV2 -> Identity -> _Copy -> HistogramSummary(host).

What a host call is handed of a ref variable is looked at when the call begins, behind all updates that the device makes before
it. On TensorFlow a summary of a variable that is run with the training op is mostly ready before the update, which has to be
computed; a copy is a read on the device, which comes first where nothing orders it (`executor/reading_order.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.order import reached
from npu_runtime.passes.base import graph_pass
from npu_runtime.passes.partition import is_free_constant, is_virtual
from npu_runtime.passes.placement import HANDLES, SWITCHES
from npu_runtime.passes.variable_writers import Writers, shows_variable

COPY = "_Copy"
Place = tuple[Node, int]
"""A host node and the position of an input."""


@graph_pass()
def copy_for_host(graph: Graph) -> int:
    """Hand copies of variables to the host where the same run may change them; returns how many.

    Not in a program with branches, whose steps stay in the order of creation.
    """
    handed = {} if any(node.op in SWITCHES for node in graph) else _handed_to_host(graph)
    if not handed:
        return 0
    writers = Writers(graph)
    copied = [value for value, places in handed.items() if _is_worth_it(graph, writers, value, places)]
    for value in copied:
        _copy(graph, value, handed[value])
    return len(copied)


def _handed_to_host(graph: Graph) -> dict[Value, list[Place]]:
    """Values that are a variable's memory, and where the host reads them."""
    found: dict[Value, list[Place]] = {}
    for node in graph:
        for position, value in enumerate(node.inputs if node.host_reason is not None and not is_virtual(node) else ()):
            is_plain = position not in node.ref_inputs and graph.spec(value).dtype not in HANDLES
            if is_plain and graph[value.node].host_reason is None and shows_variable(graph, value):
                found.setdefault(value, []).append((node, position))
    return found


def _is_worth_it(graph: Graph, writers: Writers, value: Value, places: Sequence[Place]) -> bool:
    """Whether the variable may change, and one copy can wait for all that its readers wait for, without a call of the host."""
    waits = _waits(graph, value, places)
    readers = [node.name for node, _ in places]
    is_simple = not any(node.is_looped for node, _ in places) and all(graph[name].host_reason is None for name in waits)
    return is_simple and writers.may_change(value) and not reached(readers, writers.after) & set(waits)


def _waits(graph: Graph, value: Value, places: Sequence[Place]) -> list[str]:
    """What the readers of a value wait for beside it."""
    found: dict[str, None] = {}
    for node, _ in places:
        found |= dict.fromkeys(node.controls)
        found |= dict.fromkeys(v.node for v in node.inputs if v != value and not is_free_constant(graph[v.node]))
    return list(found)


def _copy(graph: Graph, value: Value, places: Sequence[Place]) -> None:
    made = Value(f"{value.node}/copy_for_host_{value.output}")
    graph.add(Node(made.node, COPY, [value], _waits(graph, value, places), {}, [graph.spec(value)]))
    for node, position in places:
        node.inputs[position] = made
