"""Before: a whole program's graph.  After: what one run needs, with the fed values as sources."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set

from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.ops import FEED
from npu_runtime.graph.spec import Spec


def prune(
    graph: Graph,
    fetches: Sequence[Value],
    targets: Sequence[str],
    feeds: Mapping[Value, Spec],
    connections: Mapping[Value, Value] | None = None,
    ran: Set[str] = frozenset(),
) -> Graph:
    """A copy that holds the ancestors of fetches and targets, cut at the feeds.

    connections: values that stand in for others (CallableOptions.tensor_connection), by the value they replace.
    ran: names of nodes that have run before, for which nothing waits.
    Source: feeding replaces a tensor, not its node: control edges of the node stay, except those of a placeholder.
    """
    replaced = {value: Value(feed_name(value)) for value in feeds} | dict(connections or {})
    wanted = [replaced.get(value, value) for value in fetches]
    result = Graph(fetches=wanted, targets=list(targets))
    for value, spec in feeds.items():
        result.add(Node(feed_name(value), FEED, attrs={"value": value}, outputs=[spec]))

    def waits(node: Node) -> list[str]:
        return [name for name in node.controls if name not in ran and not _is_fed_placeholder(graph[name], replaced)]

    needed = _ancestors(graph, [value.node for value in wanted] + list(targets), replaced, waits)
    for node in graph:
        if node.name in needed:
            copied = node.copied()
            copied.inputs = [replaced.get(value, value) for value in node.inputs]
            copied.controls = waits(node)
            result.add(copied)
    return result


def with_feed_shapes(graph: Graph, shapes: Sequence[tuple[int | None, ...]]) -> Graph:
    """A copy to optimise, its feed nodes with these shapes, in order; None: any extent."""
    made, rest = graph.copied(), iter(shapes)
    for node in made:
        if node.op == FEED:
            node.outputs = [Spec(tuple(next(rest)), node.outputs[0].dtype)]
    return made


def feed_name(value: Value) -> str:
    """Name of the source node of a fed value; "^" cannot occur in a TensorFlow name."""
    return f"^feed/{value}"


def _is_fed_placeholder(node: Node, replaced: Mapping[Value, Value]) -> bool:
    return node.op.startswith("Placeholder") and Value(node.name) in replaced


def _ancestors(
    graph: Graph, roots: Sequence[str], replaced: Mapping[Value, Value], waits: Callable[[Node], list[str]]
) -> set[str]:  # fmt: skip
    needed: set[str] = set()
    work = [name for name in roots if not name.startswith("^")]
    while work:
        name = work.pop()
        if name in needed:
            continue
        if name not in graph:
            raise InvalidArgument(f"node {name} is not in the graph")
        needed.add(name)
        node = graph[name]
        inputs = (replaced.get(value, value).node for value in node.inputs)
        work += [n for n in inputs if not n.startswith("^")]
        work += waits(node)
    return needed
