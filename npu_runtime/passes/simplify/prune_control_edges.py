"""Before: Mul -^-> group_deps -^-> Identity(Mul_1).  After: Identity(Mul_1), where waiting for Mul has no purpose.

Gated gradients (tf.tuple, which every optimizer uses) make each gradient of an op wait for all of them. That keeps a variable
from being written while one of them still reads it; between nodes that only compute values it keeps nothing, and what is
waited for cannot be fused.
"""

from __future__ import annotations

from functools import reduce
from itertools import accumulate
from operator import or_

from npu_runtime.analysis.effects import conditional_nodes, only_computes
from npu_runtime.graph.ir import Graph, Node
from npu_runtime.graph.order import predecessors, topological
from npu_runtime.passes.base import graph_pass


@graph_pass
def prune_control_edges(graph: Graph) -> int:
    """Drop control edges that order nothing which the other edges of a node do not order too; returns how many.

    Whatever has an effect, reads a variable's memory or runs on the host still comes after all such nodes that it came after.
    """
    conditional = conditional_nodes(graph)
    hosts = [node.name for node in graph if node.host_reason is not None]
    before = {name: 1 << number for number, name in enumerate(hosts)}
    """Nodes before each node, by its name: a bit for each whose place in the order counts, itself included."""
    n_bits = len(before)
    dropped = 0
    for node in topological([node for node in graph if node.host_reason is None]):
        if node.controls and not node.is_looped and node.name not in conditional:
            dropped += _loosen(node, before)
        earlier = reduce(or_, (before.get(name, 0) for name in predecessors(node)), 0)
        if not only_computes(graph, node):
            earlier |= 1 << n_bits
            n_bits += 1
        before[node.name] = earlier
    return dropped


def _loosen(node: Node, before: dict[str, int]) -> int:
    """Take the needless controls from one node; returns how many."""
    controls = list(dict.fromkeys(node.controls))
    read = reduce(or_, (before.get(value.node, 0) for value in node.inputs), 0)
    behind = [0, *accumulate((before.get(name, 0) for name in reversed(controls)), or_)]  # from the last k of them
    needed = []
    for index, name in enumerate(controls):
        rest = read | behind[len(controls) - index - 1]
        if name not in before or before[name] & ~rest:
            needed.append(name)
            read |= before.get(name, 0)
    dropped = len(node.controls) - len(needed)
    node.controls = needed
    return dropped
