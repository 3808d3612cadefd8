"""Before: Mul -> Add -> Tanh.  After: _ElementwiseRegion: large values between element-wise nodes never reach memory.

A node joins the region of its readers when nobody else reads it or waits for it and all of its values have the region's
shape. The region takes the name and place of its last node, so what it reads from variables by reference must be read by
that node itself, unless nothing writes them in between. The last node may also be the update of a variable: what it is set to
is then computed in its own memory.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from npu_runtime.analysis.compute_types import STORED_TYPE, stored_type
from npu_runtime.analysis.movable_reads import Writers, shows_variable
from npu_runtime.analysis.node_work import node_work
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.order import topological
from npu_runtime.graph.spec import Spec
from npu_runtime.kernels.fused.elementwise_regions import (
    MAX_INPUTS,
    REGION,
    UPDATE_REGION,
    Draft,
    Region,
    assign_buffers,
    body_of,
    steps_of,
)
from npu_runtime.kernels.threads.tiling import Body, OneUfunc
from npu_runtime.passes.base import graph_pass

SMALLEST = 32768
"""Elements of a value from which on keeping it in cache repays the region's own bookkeeping."""
UPDATES: dict[str, Body | None] = {"Assign": None, "AssignAdd": OneUfunc(np.add), "AssignSub": OneUfunc(np.subtract)}
"""Function of the variable and the value that each update stores; None where it stores the value itself."""
_TYPES = frozenset({"float32", "bool"})


@graph_pass
def fuse_elementwise(graph: Graph) -> int:
    """Merge element-wise nodes over large values into regions; returns the number of regions."""
    order = topological([node for node in graph if node.host_reason is None])
    place = {node.name: index for index, node in enumerate(order)}
    fusion = _Fusion(graph)
    regions = 0
    for root in reversed(order):
        if root.name in graph and (fusion.is_candidate(root) or fusion.is_update(root)):
            members = fusion.grow(root, place)
            if len(members) > 1:
                fusion.merge(root, members)
                regions += 1
    return regions


class _Fusion:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.readers = graph.consumers()
        self.kept = graph.kept()
        self.waited_for = graph.waited_for()
        self.writers = Writers(graph)

    def is_candidate(self, node: Node) -> bool:
        """Whether a node is element-wise over complete, large values of the types a region handles."""
        if node.host_reason is not None or node.is_stateful or node.ref_inputs or body_of(node.op, node.attrs) is None:
            return False
        out = node.outputs[0]
        if not _is_large(out) or len(node.inputs) > MAX_INPUTS:
            return False
        if node.op == "AddN" and len(node.inputs) < 2:
            return False
        specs = [self.graph.spec(value) for value in node.inputs]
        return all(spec.is_complete and spec.dtype in _TYPES for spec in specs)

    def is_update(self, node: Node) -> bool:
        """Whether a node sets a ref variable of the types a region handles, or adds to it."""
        if node.op not in UPDATES or node.host_reason is not None or node.ref_inputs != {0} or not _is_large(node.outputs[0]):
            return False
        return self.graph.spec(node.inputs[1]).shape == node.outputs[0].shape and node.attrs.get("validate_shape", True)

    def grow(self, root: Node, place: Mapping[str, int]) -> list[Node]:
        """The members of the region that ends in `root`, producers first."""
        members = {root.name: root}
        refused: set[str] = set()
        while True:
            near = {v.node for m in members.values() for v in m.inputs} - members.keys() - refused
            if not near:
                break
            name = max(near, key=lambda n: place.get(n, -1))  # its readers in the region are all known by now
            node = self.graph[name]
            if self._may_join(node, root, members):
                members[name] = node
                if self._n_inputs(members) <= MAX_INPUTS:
                    continue
                del members[name]
            refused.add(name)
        return sorted(members.values(), key=lambda node: place[node.name])

    def _may_join(self, node: Node, root: Node, members: Mapping[str, Node]) -> bool:
        if node.name in self.kept or node.name in self.waited_for or not self.is_candidate(node):
            return False
        if node.outputs[0].shape != root.outputs[0].shape:
            return False
        readers = self.readers.get(Value(node.name), [])
        return all(reader.name in members for reader in readers) and all(
            not shows_variable(self.graph, value) or self.writers.stays(value, node, root) for value in node.inputs
        )

    def _n_inputs(self, members: Mapping[str, Node]) -> int:
        return len({v for m in members.values() for v in m.inputs if v.node not in members})

    def merge(self, root: Node, members: list[Node]) -> None:
        """Make `root` the region's node and remove the others."""
        inside = {node.name for node in members}
        is_update = root.op in UPDATES
        inputs = [v for node in members for v in node.inputs if v.node not in inside]
        inputs = list(dict.fromkeys([*root.inputs[:1], *inputs] if is_update else inputs))
        numbers = {value: number for number, value in enumerate(inputs)}
        steps: list[Draft] = []
        last: dict[str, int] = {}
        for node in members:
            body = UPDATES[node.op] if node.op in UPDATES else body_of(node.op, node.attrs)
            if body is None:
                continue
            operands = tuple(~last[v.node] if v.node in last else numbers[v] for v in node.inputs)
            steps += steps_of(body, operands, node.outputs[0].dtype, len(steps), node.op == "AddN")
            last[node.name] = len(steps) - 1
        flops = sum(node_work(self.graph, node) for node in members)
        shape = root.outputs[0].known_shape()
        root.controls = list(dict.fromkeys(name for node in members for name in node.controls))
        root.compute(members)
        stored = stored_type(root, 0)
        root.op, root.inputs = UPDATE_REGION if is_update else REGION, inputs
        root.attrs = {"region": Region(assign_buffers(steps), shape, flops), STORED_TYPE: stored}
        for node in members[:-1]:
            del self.graph.nodes[node.name]
        for value in inputs:
            self.readers[value] = [n for n in self.readers[value] if n.name not in inside] + [root]


def _is_large(spec: Spec) -> bool:
    return spec.is_complete and spec.value is None and spec.dtype in _TYPES and math.prod(spec.known_shape()) >= SMALLEST
