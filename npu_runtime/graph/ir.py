"""The graph of the device: nodes, their inputs and attributes. TensorFlow's GraphDef comes in, passes edit it in place."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from npu_runtime.graph.spec import Spec


class Value(NamedTuple):
    """Output number `output` of the node called `node`."""

    node: str
    output: int = 0

    def __str__(self) -> str:
        return f"{self.node}:{self.output}"


@dataclass(eq=False)
class Node:
    """One use of an op.

    inputs: data inputs in order.  controls: names of nodes that run before.  attrs: TensorFlow's attributes as Python
    values (str, int, float, bool, list, numpy array for tensors, type names as str, shapes as tuple or None).
    outputs: one Spec an output, as far as known.  ref_inputs / ref_outputs: positions that pass a variable, not a value.
    later_than: names of nodes that run before, in earlier segments, if they run at all: one that is dead makes nobody dead.
    host_reason: why the node runs on the host, None for device nodes.  is_looped: whether it lies inside a loop frame, or in a
    conditional that one host call has taken in.
    is_resized: whether it is a ref variable to which some node gives values of other shapes, each in memory of its own.
    members: names of the user's nodes that it computes, in order; None for itself, empty for one that a pass has put in.
    origins: the user's value that each output is, where that is not the output of that number of the node of that name.
    """

    name: str
    op: str
    inputs: list[Value] = field(default_factory=list)
    controls: list[str] = field(default_factory=list)
    attrs: dict[str, Any] = field(default_factory=dict)
    outputs: list[Spec] = field(default_factory=list)
    ref_inputs: frozenset[int] = frozenset()
    ref_outputs: frozenset[int] = frozenset()
    is_stateful: bool = False
    host_reason: str | None = None
    is_looped: bool = False
    is_resized: bool = False
    later_than: list[str] = field(default_factory=list)
    members: tuple[str, ...] | None = None
    origins: Mapping[int, Value | None] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<{self.op} {self.name}>"

    @property
    def original_names(self) -> tuple[str, ...]:
        """Names of the user's nodes that it computes, in order; empty for one that a pass has put in."""
        return (self.name,) if self.members is None else self.members

    def origin(self, output: int) -> Value | None:
        """The user's value that an output is, None where the user's graph has no such value."""
        own = None if self.members == () else Value(self.name, output)
        return self.origins.get(output, own)

    def compute(self, nodes: Iterable[Node]) -> None:
        """Note that it computes what these nodes computed, itself among them, in order."""
        self.members = tuple(name for node in nodes for name in node.original_names)

    def copied(self) -> Node:
        """A copy whose edges and outputs may be changed."""
        inputs, outputs, controls = list(self.inputs), list(self.outputs), list(self.controls)
        return replace(self, inputs=inputs, outputs=outputs, controls=controls, later_than=list(self.later_than))


@dataclass(eq=False)
class Graph:
    """Nodes by name, in the order of their creation.

    fetches / targets: the values and nodes a run was asked for; empty for a whole program's graph.
    saved_flops: floating-point operations, by op, of nodes that a pass found needless.
    """

    nodes: dict[str, Node] = field(default_factory=dict)
    fetches: list[Value] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)
    saved_flops: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes.values())

    def __len__(self) -> int:
        return len(self.nodes)

    def __getitem__(self, name: str) -> Node:
        return self.nodes[name]

    def __contains__(self, name: object) -> bool:
        return name in self.nodes

    def add(self, node: Node) -> Node:
        if node.name in self.nodes:
            raise ValueError(f"node {node.name} is already in the graph")
        self.nodes[node.name] = node
        return node

    def copied(self) -> Graph:
        """A copy whose nodes may be changed."""
        made = Graph(fetches=list(self.fetches), targets=list(self.targets))
        for node in self:
            made.add(node.copied())
        return made

    def spec(self, value: Value) -> Spec:
        return self.nodes[value.node].outputs[value.output]

    def consumers(self) -> dict[Value, list[Node]]:
        """The nodes that read each value, in graph order, a node once for every input."""
        readers: dict[Value, list[Node]] = {}
        for node in self:
            for value in node.inputs:
                readers.setdefault(value, []).append(node)
        return readers

    def kept(self) -> set[str]:
        """Names of the nodes that whoever runs the graph asks for: a pass may change what they are, not take them out."""
        return {value.node for value in self.fetches} | set(self.targets)

    def waited_for(self) -> set[str]:
        """Names of the nodes that others wait for without reading them."""
        return {name for node in self for name in node.controls}

    def seen_by_host(self) -> set[str]:
        """Names of the nodes that a node on the host reads or waits for."""
        hosts = [node for node in self if node.host_reason is not None]
        return {name for node in hosts for name in (*(value.node for value in node.inputs), *node.controls)}
