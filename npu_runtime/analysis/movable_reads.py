"""Reads of variables that may be moved: whether a variable would still have the value that it had."""

from __future__ import annotations

from npu_runtime.analysis.aliasing import may_alias
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.ops import HANDED_ON, LOOP_INPUT, VARIABLES, WHILE
from npu_runtime.graph.order import followers, predecessors, reached


def shows_variable(graph: Graph, value: Value, *, but_reads: bool = False) -> bool:
    """Whether a value is the memory of a variable, which may change before a later node runs.

    but_reads: what was read of a resource variable does not count: it stays as it was, and an update copies it if it must.
    """
    waiting, seen = [value.node], set[str]()
    while waiting:
        node = graph[waiting.pop()]
        if node.ref_outputs or node.op in VARIABLES:
            return True
        if but_reads and node.op == "ReadVariableOp":
            continue
        if node.name not in seen and may_alias(node):
            seen.add(node.name)
            waiting += [source.node for source in node.inputs]
    return False


class Writers:
    """The nodes that are handed the ref variables of a graph, and the order of its nodes when this was made."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.before = {node.name: predecessors(node) for node in graph}
        self.after = followers(graph)
        self.handed: dict[str | None, set[str]] = {}
        """Names of the nodes that are handed each variable; under None those that are handed nobody knows which."""
        for node in graph:
            for variable in self._handed_to(node):
                self.handed.setdefault(variable, set()).add(node.name)

    def stays(self, value: Value, reader: Node, later: Node) -> bool:
        """Whether `value`, which shows a variable to `reader`, shows the same to `later`, which waits for `reader`.

        Every other node that is handed the variable must come before `reader` or after `later`.
        """
        variable = self._variable_of(value)
        if variable is None or later.is_looped or None in self.handed:
            return False
        others = self.handed.get(variable, set()) - {later.name}
        return others <= reached([reader.name], self.before) | reached([later.name], self.after)

    def comes_later(self, value: Value, readers: list[Node]) -> bool:
        """Whether everybody who is handed the ref variable that `value` shows waits for all of `readers`."""
        variable = self._variable_of(value)
        if variable is None or None in self.handed:
            return False
        handed = self.handed.get(variable, set())
        return all(handed <= reached([reader.name], self.after) for reader in readers)

    def may_change(self, value: Value) -> bool:
        """Whether somebody who may write it is handed the ref variable that `value` shows; True where it is not certain which."""
        variable = self._variable_of(value)
        return variable is None or None in self.handed or variable in self.handed

    def _handed_to(self, node: Node) -> list[str | None]:
        if node.op == WHILE:
            writes = any(inner.ref_inputs for inner in node.attrs["loop"].graph)
            return [None] if writes else []
        if node.op in HANDED_ON or node.op == LOOP_INPUT:
            return []
        return [self._variable_of(node.inputs[i]) for i in sorted(node.ref_inputs)]

    def _variable_of(self, value: Value) -> str | None:
        """The ref variable on the device that a value is element by element, None where that is not certain."""
        node = self.graph[value.node]
        while node.op not in VARIABLES:
            is_updated = 0 in node.ref_inputs and value.output in node.ref_outputs
            if not node.inputs or not (node.op in HANDED_ON or is_updated):
                return None
            value = node.inputs[0]
            node = self.graph[value.node]
        return node.name if node.ref_outputs and node.host_reason is None else None
