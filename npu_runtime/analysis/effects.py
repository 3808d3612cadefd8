"""Effect analysis: whether a node may be left out, moved, or merged with another one."""

from __future__ import annotations

from npu_runtime.analysis.movable_reads import shows_variable
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.ops import CONSTANT, FEED, HANDLES, LOOP_INPUT, MERGES, SWITCHES
from npu_runtime.graph.order import followers, reached
from npu_runtime.kernels.base import all_kernels

_MAY_RAISE_ON_PURPOSE = frozenset({"Assert", "CheckNumerics", "CheckNumericsV2"})
_GIVEN = frozenset({"Const", CONSTANT, FEED, "NoOp"})


def is_pure(graph: Graph, node: Node) -> bool:
    """Whether a device node does nothing but compute values from values that are surely alive when it runs."""
    if node.host_reason is not None or node.is_stateful or node.op in _MAY_RAISE_ON_PURPOSE or not node.inputs:
        return False
    made = all_kernels().get(node.op)
    if made is None or made.is_stateful or node.ref_inputs or node.ref_outputs:
        return False
    return all(_is_plain(graph, value) for value in node.inputs)


def _is_plain(graph: Graph, value: Value) -> bool:
    """Not one branch of a conditional, whose death would be lost, and not a handle."""
    return graph[value.node].op not in SWITCHES | MERGES and graph.spec(value).dtype not in HANDLES


def only_computes(graph: Graph, node: Node, *, but_reads: bool = False) -> bool:
    """Whether it makes no difference when a node runs: it is pure, and no value that it reads is a variable's memory.

    but_reads: what was read of a resource variable may be among the values, see `shows_variable`.
    """
    if node.op in _GIVEN:
        return not node.inputs
    if not is_pure(graph, node) or node.is_looped or any(spec.dtype in HANDLES for spec in node.outputs):
        return False
    return not any(
        graph[value.node].op == LOOP_INPUT or shows_variable(graph, value, but_reads=but_reads) for value in node.inputs
    )


def conditional_nodes(graph: Graph) -> set[str]:
    """Names of the nodes behind a Switch, which do not run when their branch is not taken."""
    branching = {node.name for node in graph if node.op in SWITCHES | MERGES}
    return branching | reached(sorted(branching), followers(graph))
