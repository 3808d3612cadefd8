"""Before: steps in the order of creation.  After: no variable changes before they have read it who could do so sooner.

minimize(loss); gradients(loss, weights)      run together, the gradients are those of the weights that the step began with

Nothing orders such a read and such a write, so either order is right. On TensorFlow comes first what is ready first, which here
is what has fewer nodes before it: a read of a resource variable, and mostly of a ref variable, rather than an update. What one
run shows of a step (a second network on the same weights, a moving average, a copy for a target network) is then the same. A ref
variable that is read late is read late: a batch norm's second set of statistics finds what the first has left. What stands in a
branch has waited for the predicate; behind a Merge a read is as late as its longer branch and a write as soon as its shorter one.
Where a conditional makes that uncertain the order of creation stays.

A counter comes before what reads it without an order, as on TensorFlow 1.15: the thread that has read it adds and assigns at
once, while the nodes that take a learning rate from it wake other threads. BERT, ALBERT and ELECTRA assign `global_step + 1`
beside the update (docs/internals/graph_compiler.md has what was measured).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence

from npu_runtime.analysis.counters import counting
from npu_runtime.analysis.variable_accesses import VariableAccesses, takes_in
from npu_runtime.graph.ir import Graph, Node
from npu_runtime.graph.ops import MERGES, PASSING, SWITCHES, HostCall, Item, Key
from npu_runtime.graph.order import followers, predecessors, reached, topological

FORWARDED = PASSING - SWITCHES - MERGES
"""Ops that, as a rule, no longer exist when a graph runs."""


def reads_first(graph: Graph, order: Sequence[Item]) -> list[Item]:
    """The same steps, those between two host calls in another order where that lets a read come before a write."""
    touches = VariableAccesses(graph, order)
    counters = counting(graph)
    stretches: list[Stretch] = [Stretch(counters)]
    ordered: list[Item] = []
    for position, item in enumerate(order):
        if isinstance(item, HostCall):
            ordered += [*stretches[-1].ordered(), item]
            stretches.append(Stretch(counters))
        else:
            reads, writes = touches.reads[position], touches.writes[position]
            looks = {key for key in reads - writes if takes_in(item, key)} if item.op not in PASSING else ()
            stretches[-1].add(item, frozenset(looks), writes)
    return ordered + stretches[-1].ordered()


class Stretch:
    """Nodes that follow each other, in an order that respects every edge.

    soon: names of nodes that come as soon as they can, and of writers that need not wait for reads.
    """

    def __init__(self, soon: Container[str] = ()) -> None:
        self._soon = soon
        self.nodes: list[Node] = []
        self.looks: dict[str, frozenset[Key]] = {}
        """Variables whose content a node takes in, by its name."""
        self.writes: dict[str, frozenset[Key]] = {}
        self.latest: dict[str, int] = {}
        """Number of nodes that run one after another up to each node, by its name."""
        self.soonest: dict[str, int] = {}
        """The same where the shortest way to a Merge is the one that is alive."""

    def add(self, node: Node, looks: frozenset[Key], writes: frozenset[Key]) -> None:
        """The next node, the variables whose content it takes in and those that it may change."""
        self.nodes.append(node)
        self.latest[node.name] = self._depth(node, self.latest, max, FORWARDED)
        self.soonest[node.name] = self._depth(node, self.soonest, min if node.op in MERGES else max, PASSING)
        if looks:
            self.looks[node.name] = looks
        if writes:
            self.writes[node.name] = writes

    @staticmethod
    def _depth(node: Node, depths: Mapping[str, int], choose: Callable[..., int], free: Container[str]) -> int:
        return (node.op not in free) + choose((depths.get(name, 0) for name in predecessors(node)), default=0)

    def ordered(self) -> list[Node]:
        """Writers that came too early go behind, with all that waits for them; which may make others come too early."""
        if any(node.name in self._soon for node in self.nodes):
            self.nodes = topological(sorted(self.nodes, key=lambda node: node.name not in self._soon))
        nodes, delayed = self.nodes, set[str]()
        after = followers(self.nodes) if self._hasty(nodes) else {}
        while found := self._too_early(nodes, after) - delayed:
            delayed |= found
            behind = delayed | reached(sorted(delayed), after)
            nodes = topological(sorted(self.nodes, key=lambda node: node.name in behind))
        return nodes

    def _hasty(self, nodes: Sequence[Node]) -> list[tuple[int, Key]]:
        """Positions of writers behind which somebody looks at what they write, and what that is."""
        last = {key: i for i, node in enumerate(nodes) for key in self.looks.get(node.name, ())}
        return [(i, key) for i, node in enumerate(nodes) for key in self._waiting(node.name) if last.get(key, -1) > i]

    def _waiting(self, name: str) -> Iterable[Key]:
        return () if name in self._soon else self.writes.get(name, ())

    def _too_early(self, nodes: Sequence[Node], after: Mapping[str, Iterable[str]]) -> set[str]:
        """Writers before a look that could be sooner, and the later writers of the same, whose order stays."""
        found: set[str] = set()
        for position, key in self._hasty(nodes):
            writer = nodes[position].name
            looking = {node.name for node in nodes[position + 1 :] if key in self.looks.get(node.name, ())}
            sooner = {name for name in looking if self.latest[name] <= self.soonest[writer]}
            if sooner - reached([writer], after):
                found |= {node.name for node in nodes[position:] if key in self.writes.get(node.name, ())}
        return found
