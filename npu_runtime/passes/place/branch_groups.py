"""Before: a loop in a branch and the loop of its gradient, one host call.  After: the whole conditional is in that call.

What must run in one host call, as the users of a stack, may stand in branches: of one conditional and of that of its gradient,
or on both sides of one. A call is alive or dead as a whole. So it takes in the conditionals, from their Switches to their Merges,
and TensorFlow decides inside of it what is dead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from npu_runtime.analysis.liveness import in_order, liveness_of, liveness_of_groups
from npu_runtime.analysis.loop_frames import loop_groups
from npu_runtime.graph.disjoint import DisjointSets
from npu_runtime.graph.ir import Graph, Node
from npu_runtime.graph.ops import MERGES, SWITCHES, Liveness
from npu_runtime.graph.order import followers


class BranchGroups:
    """Takes conditionals into the groups that have a part of them.  frames: the outermost loop of the nodes in one."""

    def __init__(self, graph: Graph, frames: Mapping[str, str]) -> None:
        self._graph, self._frames = graph, frames
        self._liveness = liveness_of_groups(graph, in_order(graph, loop_groups(frames)))
        self._after = followers(graph)
        self.enclosed: set[str] = set()
        """Names of the nodes of conditionals that a group has taken in."""

    def close(self, groups: DisjointSets, reasons: Mapping[str, str]) -> bool:
        """Join what belongs to a group on the host; True when something was joined."""
        has_joined = False
        for members in groups.groups(self._graph.nodes).values():
            if len(members) > 1 and any(name in reasons for name in members) and self._is_parted(members):
                common = frozenset.intersection(*(self._liveness[name] for name in members))
                found = self._closure(members, common)
                self.enclosed |= found
                for name in found:
                    has_joined = has_joined or groups.find(name) != groups.find(members[0])
                    groups.join(name, members[0])
        return has_joined

    def _is_parted(self, members: Iterable[str]) -> bool:
        """Whether members of a group are alive in different branches. A loop alone is alive as a whole."""
        return len({self._liveness[name] for name in members}) > 1

    def _closure(self, members: Iterable[str], common: Liveness) -> set[str]:
        """All that is alive or dead by branches inside of the group: what the members read, and what reads them."""
        found = set(members)
        waiting = list(found)
        while waiting:
            new = {name for name in self._beside(waiting.pop(), common) if name not in found}
            found |= new
            waiting += sorted(new)
        return found

    def _beside(self, name: str, common: Liveness) -> Iterable[str]:
        node = self._graph[name]
        is_inside = bool(self._liveness[name] - common)
        if is_inside or node.op in MERGES:
            yield from (value.node for value in node.inputs if liveness_of(self._graph, value, self._liveness) - common)
            yield from (control for control in node.controls if self._liveness[control] - common)
        if is_inside:
            yield from self._after.get(name, ())
        elif node.op in SWITCHES and name not in self._frames:
            yield from self._readers_of_sides(node, common)

    def _readers_of_sides(self, switch: Node, common: Liveness) -> Iterable[str]:
        for reader in self._after.get(switch.name, ()):
            values = [value for value in self._graph[reader].inputs if value.node == switch.name]
            if any(liveness_of(self._graph, value, self._liveness) - common for value in values):
                yield reader
