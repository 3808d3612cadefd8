"""Values at the border between device and host: constants, handles, and references of variables of the host."""

from __future__ import annotations

from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.ops import ENTERS, HANDLES, MERGES, SWITCHES, VARIABLES


def is_free_constant(node: Node) -> bool:
    """A constant that both sides have for themselves; one with control inputs may belong to a branch not taken."""
    return node.op == "Const" and not node.controls


def is_virtual(node: Node) -> bool:
    """A Switch of a host resource or reference: only its predicate counts, the variable itself stays where it is.

    In a loop, and with a variant, all that touches it is one host call, where TensorFlow switches it.
    """
    if node.op not in SWITCHES or node.host_reason is None or node.is_looped:
        return False
    return node.outputs[0].dtype == "resource" or bool(node.ref_outputs)


def is_handle_source(node: Node) -> bool:
    """A host node that only makes handles (of an iterator, a table, a dataset): every call that uses one makes it anew.

    Source: such ops look their resource up by name, or are pure; a handle cannot be fetched or fed.
    """
    return node.host_reason is not None and bool(node.outputs) and all(spec.dtype in HANDLES for spec in node.outputs)


def variable_shown(graph: Graph, reader: Node, value: Value) -> Value | None:
    """The value that a host node reads in the place of one that is the memory of a ref variable of the host; None for any other.

    Source: an Identity and a Switch give the variable's memory on; behind an update one sees it through what was read before.
    From call to call go copies; so every call that looks makes the Identity anew.
    """
    if reader.host_reason is None or reader.op in MERGES or (reader.is_looped and reader.op not in ENTERS | SWITCHES):
        return None
    source, is_behind_virtual = value, False
    while is_virtual(graph[source.node]) or (graph[source.node].op == "Switch" and not graph[source.node].is_looped):
        is_behind_virtual = is_virtual(graph[source.node])
        source = graph[source.node].inputs[0]
    is_itself = graph[source.node].op in VARIABLES  # which a virtual Switch that the reader has gives already
    is_seen = not is_itself or (is_behind_virtual and not is_virtual(graph[value.node]))
    return source if is_seen and is_memory_of_host(graph, source) else None


def is_memory_of_host(graph: Graph, value: Value) -> bool:
    """Whether a value is a ref variable of the host, or an Identity of it that the host makes.

    Not of one that is given other shapes: what was read keeps the old memory. Source: TensorFlow core/kernels/assign_op.h.
    """
    node = graph[value.node]
    while node.op == "Identity" and runs_on_host(node) and not node.is_looped:
        node = graph[node.inputs[0].node]
    return node.op in VARIABLES and bool(node.ref_outputs) and node.host_reason is not None and not node.is_resized


def runs_on_host(node: Node) -> bool:
    return node.host_reason is not None and not is_virtual(node)


def is_returned_reference(graph: Graph, node: Node, position: int) -> bool:
    """Whether a host node is handed a variable by the update that returns it, and not by the variable itself.

    A reference cannot cross from call to call, and the update must not run again to give it: the node is handed what the update
    was, in a later call.
    """
    return runs_on_host(node) and position in node.ref_inputs and returns_reference(graph, node.inputs[position])


def returns_reference(graph: Graph, value: Value) -> bool:
    """Whether a host node outside of loops returns the reference that it was handed first."""
    producer = graph[value.node]
    if not runs_on_host(producer) or producer.is_looped or producer.op in MERGES | SWITCHES:
        return False
    return value.output in producer.ref_outputs and 0 in producer.ref_inputs
