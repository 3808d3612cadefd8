"""Before: ResourceApplyAdam, ResourceApplyAdam, ...  After: _ApplyGroup: small variables are updated together.

An update of a small variable is a dozen calls of numpy, each of which takes longer than the numbers. Nets have dozens of such
variables: biases, scales, and all weights of a small net.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import groupby

from npu_runtime.analysis.effects import conditional_nodes
from npu_runtime.cost.work import n_elements
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.order import followers, reached
from npu_runtime.kernels.base import all_kernels
from npu_runtime.kernels.fused.update_groups import APPLY_GROUP
from npu_runtime.kernels.training.apply_update import DENSE
from npu_runtime.passes.base import graph_pass

LARGEST = 4096
"""Elements of a variable from which on copying them to the others and back takes longer than the calls that it saves."""


@graph_pass
def group_updates(graph: Graph) -> int:
    """Make one node of the updates of small variables that have all else in common; returns how many are in groups."""
    conditional = conditional_nodes(graph)
    small = [node for node in graph if node.name not in conditional and _is_small_update(graph, node)]
    keys = {node.name: _key(graph, node) for node in small}
    grouped = 0
    for _, nodes in groupby(sorted(small, key=lambda node: repr(keys[node.name])), key=lambda node: keys[node.name]):
        group = _independent(graph, list(nodes))
        if len(group) > 1:
            _merge(graph, group)
            grouped += len(group)
    return grouped


def _is_small_update(graph: Graph, node: Node) -> bool:
    """Whether a node updates resource variables of few elements, all of one shape and of fp32."""
    if node.op not in DENSE or node.outputs or node.host_reason is not None or node.is_looped or node.later_than:
        return False
    layout = DENSE[node.op].layout
    specs = [graph.spec(value) for value in node.inputs]
    given = specs[layout.n_variables :]
    if any(spec.dtype != "resource" for spec in specs[: layout.n_variables]) or any(spec.dtype != "float32" for spec in given):
        return False
    gradient = specs[layout.grad]
    is_alike = all(spec.shape == gradient.shape for spec in specs[: layout.n_variables])
    return gradient.is_complete and is_alike and 0 < n_elements(gradient) <= LARGEST


def _key(graph: Graph, node: Node) -> Hashable:
    """The op, its attributes and its scalars, which the members of a group have in common."""
    layout = DENSE[node.op].layout
    scalars = tuple(value for i, value in enumerate(node.inputs) if i >= layout.n_variables and i != layout.grad)
    return node.op, tuple(sorted(all_kernels()[node.op].bind(node.attrs).items())), scalars


def _independent(graph: Graph, nodes: Sequence[Node]) -> list[Node]:
    """The nodes, from the first one on, that may run in one place: none waits for another one, or has its variables."""
    after, found, handed, behind = followers(graph), list[Node](), set[Value](), set[str]()
    for node in nodes:
        own = set(node.inputs[: DENSE[node.op].layout.n_variables])
        next_ones = reached([node.name], after)
        if own & handed or node.name in behind or any(other.name in next_ones for other in found):
            continue
        found.append(node)
        handed |= own
        behind |= next_ones
    return found


def _merge(graph: Graph, group: Sequence[Node]) -> None:
    """Make the last node the one, and whoever waited for another one wait for it."""
    root, gone = group[-1], {node.name for node in group[:-1]}
    layout = DENSE[root.op].layout
    variables = [node.inputs[place] for place in range(layout.n_variables) for node in group]
    scalars = [value for i, value in enumerate(root.inputs) if i >= layout.n_variables and i != layout.grad]
    gradients = [node.inputs[layout.grad] for node in group]
    root.controls = list(dict.fromkeys(name for node in group for name in node.controls))
    root.compute(group)
    root.attrs = {"update": root.op, "settings": all_kernels()[root.op].bind(root.attrs), "count": len(group)}
    root.op, root.inputs = APPLY_GROUP, [*variables, *scalars, *gradients]
    for name in gone:
        del graph.nodes[name]
    graph.targets = _renamed(graph.targets, gone, root.name)
    for node in graph:
        if not gone.isdisjoint(node.controls):
            node.controls = _renamed(node.controls, gone, root.name)
        if not gone.isdisjoint(node.later_than):
            node.later_than = _renamed(node.later_than, gone, root.name)


def _renamed(names: Sequence[str], gone: set[str], name: str) -> list[str]:
    return list(dict.fromkeys(name if one in gone else one for one in names))
