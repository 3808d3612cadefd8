"""The boundary of a host call: what the device feeds it and fetches from it."""

from __future__ import annotations

from collections.abc import Sequence

from npu_runtime.analysis.host_values import is_free_constant, is_handle_source, is_virtual, variable_shown
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.ops import HANDLES, VARIABLES
from npu_runtime.importers.tensorflow.host import through_switches


def with_handle_sources(graph: Graph, names: Sequence[str]) -> list[str]:
    """The nodes of a call and what each makes anew: the handles they use, whose makers belong to no call, looks at variables."""
    found = dict.fromkeys(names)
    work = list(names)
    while work:
        node = graph[work.pop()]
        for value in node.inputs:
            shown = variable_shown(graph, node, value)
            source = (shown or through_switches(graph, value)).node
            if (shown is not None or is_handle_source(graph[source])) and source not in found:
                found[source] = None
                work.append(source)
    return list(found)


def can_cross(graph: Graph, reader: str, value: Value) -> bool:
    """Whether a value is handed over at the boundary; handles, references and free constants are there already."""
    producer = graph[value.node]
    if is_free_constant(producer) or is_virtual(producer) or graph.spec(value).dtype in HANDLES:
        return False
    return not _is_reference(graph, graph[reader], graph[reader].inputs.index(value))


def _is_reference(graph: Graph, reader: Node, position: int) -> bool:
    """Whether a node is handed a variable there, and not what it holds, which may be nothing yet.

    What reads a variable of the host on the host looks at the variable itself, whichever call it stands in.
    """
    value = reader.inputs[position]
    producer = graph[value.node]
    is_own = producer.op in VARIABLES and producer.host_reason is not None and reader.host_reason is not None
    return value.output in producer.ref_outputs and (position in reader.ref_inputs or is_own)


def read_outside(graph: Graph, inside: set[str]) -> list[Value]:
    """Values of a call that a fetch, the device or another call wants."""
    outside = [node for node in graph if node.name not in inside]
    read = {v for node in outside for i, v in enumerate(node.inputs) if not _is_reference(graph, node, i)} | set(graph.fetches)
    made = [Value(name, i) for name in graph.nodes if name in inside for i in range(len(graph[name].outputs))]
    return [value for value in made if value in read and graph.spec(value).dtype not in HANDLES]
