"""The nodes of a tf.Graph and of the functions that it calls, in one form: a function's body has the same operations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tensorflow.python.framework import tensor_util


@dataclass(frozen=True)
class Output:
    """An output of a node.  node: its name.  label: of the output in a function's body, "" in a graph.  index: behind it."""

    node: str
    label: str = ""
    index: int = 0


@dataclass
class Nodes:
    """The nodes of one body by name.  consumers: of each node, with the output that they take."""

    by_name: dict[str, Any] = field(default_factory=dict)
    consumers: dict[str, list[tuple[Output, Any]]] = field(default_factory=lambda: defaultdict(list))

    def add(self, node: Any) -> None:
        """Add a NodeDef."""
        self.by_name[node.name] = node
        for text in node.input:
            if not text.startswith("^"):
                output = output_of(text)
                self.consumers[output.node].append((output, node))

    def inputs(self, node: Any) -> list[Any]:
        """The NodeDefs that give a node its inputs, None for an argument of the function."""
        return [self.by_name.get(output_of(text).node) for text in node.input if not text.startswith("^")]

    def constant(self, node: Any) -> Any:
        """The array that a node gives, through nodes that hand it on; None where it is not constant."""
        for _ in range(20):
            if node is None:
                return None
            if node.op == "Const":
                return tensor_util.MakeNdarray(node.attr["value"].tensor)
            if node.op not in ("Identity", "Reshape", "ExpandDims", "Squeeze", "PlaceholderWithDefault"):
                return None
            node = next(iter(self.inputs(node)), None)
        return None


def output_of(text: str) -> Output:
    """The output that the input of a NodeDef names."""
    parts = text.split(":")
    if len(parts) == 3:
        return Output(parts[0], parts[1], int(parts[2]))
    return Output(parts[0], "", int(parts[1]) if len(parts) == 2 and parts[1].isdigit() else 0)


def bodies(graph: Any) -> Iterator[Nodes]:
    """The nodes of a graph, then those of each function that it knows."""
    own = Nodes()
    for operation in graph.get_operations():
        own.add(operation.node_def)
    yield own
    for function in list(getattr(graph, "_functions", {}).values()):
        found = Nodes()
        for node in _definition(function).node_def:
            found.add(node)
        yield found


def _definition(function: Any) -> Any:
    for name in ("cached_definition", "definition", "function_def"):
        found = getattr(function, name, None)
        if found is not None:
            return found
    return function
