"""Before: VariableV2 -> Identity -> HistogramSummary(host).  After: VariableV2 -> Identity -> _Copy -> HistogramSummary(host).

What a host call is handed of a ref variable is looked at when the call begins, behind all updates that the device makes before
it. On TensorFlow a summary of a variable that is run with the training op is mostly ready before the update, which has to be
computed; a copy is a read on the device, which comes first where nothing orders it (`passes/schedule/reads_first.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

from npu_runtime.analysis.host_values import is_free_constant, is_virtual, variable_shown
from npu_runtime.analysis.movable_reads import Writers, shows_variable
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.ops import HANDLES, MERGES
from npu_runtime.graph.order import reached
from npu_runtime.passes.base import graph_pass

COPY = "_Copy"
Place = tuple[Node, int]
"""A host node and the position of an input."""
Group = tuple[Value, tuple[str, ...]]
"""A value, and what the host nodes wait for beside it that share a copy of it."""


@graph_pass
def copy_for_host(graph: Graph) -> int:
    """Hand copies of variables to the host where the same run may change them; returns how many.

    Readers that wait for the same share a copy: it is alive when they are, and no later than the soonest of them.
    """
    handed = _handed_to_host(graph)
    if not handed:
        return 0
    writers = Writers(graph)
    copied = [group for group, places in handed.items() if _is_worth_it(graph, writers, group, places)]
    for number, (value, waits) in enumerate(copied):
        made = Value(f"{value.node}/copy_for_host_{value.output}_{number}")
        graph.add(Node(made.node, COPY, [value], list(waits), {}, [graph.spec(value)], members=()))
        for node, position in handed[value, waits]:
            node.inputs[position] = made
    return len(copied)


def _handed_to_host(graph: Graph) -> dict[Group, list[Place]]:
    """Values that are a variable's memory, and where the host reads them."""
    found: dict[Group, list[Place]] = {}
    for node in graph:
        if node.host_reason is None or is_virtual(node) or node.op in MERGES:  # a Merge is alive when one of its inputs is
            continue
        for position, value in enumerate(node.inputs):
            if _is_handed(graph, node, position):
                found.setdefault((value, _waits(graph, value, node)), []).append((node, position))
    return found


def _is_handed(graph: Graph, node: Node, position: int) -> bool:
    """Whether a host node is given what a variable of the device holds; the host looks at its own ones itself."""
    value = node.inputs[position]
    if position in node.ref_inputs or graph.spec(value).dtype in HANDLES or graph[value.node].host_reason is not None:
        return False
    return shows_variable(graph, value) and variable_shown(graph, node, value) is None


def _waits(graph: Graph, value: Value, reader: Node) -> tuple[str, ...]:
    """The nodes that a reader of a value waits for beside it, by control edges and by inputs that are no free constants."""
    beside = [v.node for v in reader.inputs if v != value and not is_free_constant(graph[v.node])]
    return tuple(sorted({*reader.controls, *beside}))


def _is_worth_it(graph: Graph, writers: Writers, group: Group, places: Sequence[Place]) -> bool:
    """Whether the variable may change, and a copy can wait for all that its readers wait for, without a call of the host."""
    value, waits = group
    readers = [node.name for node, _ in places]
    is_simple = not any(node.is_looped for node, _ in places) and all(graph[name].host_reason is None for name in waits)
    return is_simple and writers.may_change(value) and not reached(readers, writers.after) & set(waits)
