"""Before: Sub -> Mul -> AssignAdd(m), Square -> Sub -> Mul -> AssignAdd(v), Mul -> RealDiv -> AssignSub.  After: _ApplyMoments.

Keras' Adam writes its formula as some sixteen nodes a variable. As one they read and write each element once, and take the time
of one step for small variables.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.order import followers, predecessors, reached
from npu_runtime.kernels.fused.moments_update import APPLY_MOMENTS
from npu_runtime.passes.base import graph_pass

_UPDATE, _ADD = "AssignSubVariableOp", "AssignAddVariableOp"


class _Match(NamedTuple):
    """members: the nodes that become one, but for the last.  inputs: of the one."""

    members: list[Node]
    inputs: list[Value]


class _Moment(NamedTuple):
    """members: the nodes of `slot += (value - slot) * rate`."""

    members: list[Node]
    value: Value
    rate: Value


@graph_pass
def fuse_moment_updates(graph: Graph) -> int:
    """Make one node of each update of a variable by Keras' Adam; returns how many."""
    roots = [node for node in graph if node.op == _UPDATE and node.host_reason is None and not node.is_looped]
    if not roots:
        return 0
    matcher = _Matcher(graph)
    found = 0
    for root in roots:
        match = matcher.match(root)
        if match is not None and matcher.is_alone(root, match):
            matcher.merge(root, match)
            found += 1
    return found


class _Matcher:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.readers = graph.consumers()
        self.after = followers(graph)
        self.kept = {value.node for value in graph.fetches}

    def match(self, root: Node) -> _Match | None:
        """The nodes of an update that ends in `root`."""
        graph = self.graph
        quotient = self._made_by(root.inputs[1], "RealDiv")
        product = self._made_by(quotient.inputs[0], "Mul") if quotient else None
        sum_ = self._made_by(quotient.inputs[1], "AddV2") if quotient else None
        square_root = self._made_by(sum_.inputs[0], "Sqrt") if sum_ else None
        read_m = self._made_by(product.inputs[0], "ReadVariableOp") if product else None
        read_v = self._made_by(square_root.inputs[0], "ReadVariableOp") if square_root else None
        if not (quotient and product and sum_ and square_root and read_m and read_v):
            return None
        first, second = self._moment(read_m), self._moment(read_v)
        square = self._made_by(second.value, "Square") if second else None
        if not (first and second and square) or square.inputs[0] != first.value:
            return None
        variables = [root.inputs[0], read_m.inputs[0], read_v.inputs[0]]
        inputs = [*variables, product.inputs[1], first.rate, second.rate, sum_.inputs[1], first.value]
        members = [*first.members, square, *second.members, read_m, read_v, product, square_root, sum_, quotient]
        return _Match(members, inputs) if self._fits(graph, inputs) else None

    def _moment(self, read: Node) -> _Moment | None:
        """The update before a read of a slot, if it is `slot += (value - slot) * rate`."""
        handed = {node.name: node for node in self.readers.get(read.inputs[0], ())}
        adds = [node for node in handed.values() if node.op == _ADD]
        reads = [node for node in handed.values() if node.op == "ReadVariableOp" and node is not read]
        if len(handed) != 3 or len(adds) != 1 or len(reads) != 1 or adds[0].name not in read.controls:
            return None
        product = self._made_by(adds[0].inputs[1], "Mul")
        difference = self._made_by(product.inputs[0], "Sub") if product is not None else None
        first = Value(reads[0].name)
        if product is None or difference is None or difference.inputs[1] != first or len(self.readers.get(first, ())) != 1:
            return None
        return _Moment([reads[0], difference, product, adds[0]], difference.inputs[0], product.inputs[1])

    def _made_by(self, value: Value, op: str) -> Node | None:
        """The device node of an op that makes a value which one node reads."""
        node = self.graph[value.node]
        is_own = node.op == op and node.host_reason is None and not node.is_looped
        return node if is_own and len(self.readers.get(value, ())) == 1 and node.name not in self.kept else None

    def _fits(self, graph: Graph, inputs: Sequence[Value]) -> bool:
        """Whether gradient and scalars are fp32 of the shapes that the kernel takes."""
        var, *_, grad = (graph.spec(value) for value in inputs)
        scalars = [graph.spec(value) for value in inputs[3:7]]
        is_typed = all(spec.dtype == "float32" for spec in (*scalars, grad))
        return is_typed and all(spec.shape == () for spec in scalars) and grad.is_complete and grad.shape == var.shape

    def is_alone(self, root: Node, match: _Match) -> bool:
        """Whether nobody outside runs between the members: then all of them may run in the place of the last."""
        names = {node.name for node in match.members} | {root.name}
        return not names & reached(sorted(self._outside(match, root)), self.after)

    def _outside(self, match: _Match, root: Node) -> set[str]:
        members = {node.name for node in match.members}
        return {other for name in members for other in self.after.get(name, ())} - members - {root.name}

    def merge(self, root: Node, match: _Match) -> None:
        """Make `root` the one node, and whoever waited for another member wait for it."""
        gone, outside = {node.name for node in match.members}, self._outside(match, root)
        root.controls = list(dict.fromkeys(n for node in (*match.members, root) for n in node.controls if n not in gone))
        root.compute([*match.members, root])
        root.op, root.inputs, root.attrs = APPLY_MOMENTS, match.inputs, {}
        for name in gone:
            del self.graph.nodes[name]
        self.graph.targets = _renamed(self.graph.targets, gone, root.name)
        for name in outside:
            self.graph[name].controls = _renamed(self.graph[name].controls, gone, root.name)
        self.after.setdefault(root.name, []).extend(sorted(outside))
        for name in predecessors(root):
            self.after.setdefault(name, []).append(root.name)


def _renamed(names: Sequence[str], gone: set[str], name: str) -> list[str]:
    return list(dict.fromkeys(name if one in gone else one for one in names))
