"""Before: VariableV2 -> Identity -> Enter(host).  After: VariableV2 -> Enter(host), where the loop is handed the variable too.

TensorFlow's Identity of a ref variable is the variable's memory, not a copy: a loop that updates the variable sees the update
through a read that was made outside of it. The Identity may run on the device, or in an earlier call of the host, and what
comes from there is a copy. So such a loop is handed the variable itself.
"""

from __future__ import annotations

from npu_runtime.analysis.host_values import returns_reference
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.ops import VARIABLES
from npu_runtime.passes.base import graph_pass


@graph_pass
def thread_variables_into_loops(graph: Graph) -> int:
    """Hand the host's loops the ref variables that they update in the place of reads made outside; returns how many reads."""
    handed = {(node.attrs["frame_name"], _variable(graph, node)) for node in graph if _is_on_host(node, "RefEnter")}
    n_entered = 0
    for node in graph:
        variable = _variable(graph, node) if handed and _is_on_host(node, "Enter") else None
        if variable is not None and (node.attrs["frame_name"], variable) in handed:
            node.controls = sorted({*node.controls, *graph[node.inputs[0].node].controls})
            node.inputs[0] = variable
            n_entered += 1
    return n_entered


def _is_on_host(node: Node, op: str) -> bool:
    return node.op == op and node.host_reason is not None


def _variable(graph: Graph, enter: Node) -> Value | None:
    """The ref variable that enters a loop, itself, by what an update returns of it, or by an Identity of either."""
    value = enter.inputs[0]
    if graph[value.node].op == "Identity":
        value = graph[value.node].inputs[0]
    while returns_reference(graph, value):
        value = graph[value.node].inputs[0]
    producer = graph[value.node]
    return value if producer.op in VARIABLES and producer.ref_outputs and producer.host_reason is not None else None
