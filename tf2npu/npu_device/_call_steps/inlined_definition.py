"""The definition of a function's graph, in which the bodies of the functions that it calls stand in the place of the calls.

Nodes of a body are called as those of the device are. Conditionals and loops stay what they are: a node each.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tensorflow.core.framework import graph_pb2

from npu_runtime.importers.tensorflow.functions import CALLS, MARK, MAX_DEPTH


@dataclass
class InlinedDefinition:
    """graph_def: with all nodes but the inputs.  origins: the operation that each node was made of, by its name.

    tensors: the name here of each tensor of a body, by the identity of the body's graph and its name there.
    outputs: tensors that the function returns.  effects: operations that are run for what they do.
    """

    graph_def: graph_pb2.GraphDef = field(default_factory=graph_pb2.GraphDef)
    origins: dict[str, Any] = field(default_factory=dict)
    tensors: dict[tuple[int, str], str] = field(default_factory=dict)
    outputs: list[str] = field(default_factory=list)
    effects: list[str] = field(default_factory=list)


def inlined(func_graph: Any, inputs: Mapping[str, str]) -> InlinedDefinition:
    """inputs: the node that stands for each input, by the name of the input's operation."""
    made = InlinedDefinition()
    whole = func_graph.as_graph_def()
    made.graph_def.versions.CopyFrom(whole.versions)
    made.graph_def.library.CopyFrom(whole.library)
    known = {f"{name}:0": f"{node}:0" for name, node in inputs.items()}
    body = _Body(made, func_graph, "", known, (), 0)
    body.copy()
    made.outputs, made.effects = body.outputs(), body.effects()
    return made


class _Body:
    """One graph that is copied.  prefix: of its nodes.  tensors: what stands for a tensor of the graph, by its name.

    waits: operations that what has effects waits for.  depth: of the call that it is the body of.
    """

    def __init__(
        self, made: InlinedDefinition, func_graph: Any, prefix: str, tensors: dict[str, str], waits: Sequence[str], depth: int
    ) -> None:  # fmt: skip
        self._made, self._graph, self._prefix, self._tensors, self._depth = made, func_graph, prefix, tensors, depth
        self._waits = list(waits)
        self._inputs = {tensor.op.name for tensor in func_graph.inputs}
        self._ends: dict[str, list[str]] = {}

    def copy(self) -> None:
        for operation in self._graph.get_operations():
            if operation.name in self._inputs:
                self._ends[operation.name] = self._waits
                continue
            body = self._called(operation)
            if body is None:
                self._copy(operation)
            else:
                self._inline(operation, body)
            self._made.tensors.update({(id(self._graph), tensor.name): self._tensor(tensor) for tensor in operation.outputs})

    def outputs(self) -> list[str]:
        return [self._tensor(tensor) for tensor in self._graph.outputs]

    def effects(self) -> list[str]:
        return self._controls(self._graph.control_outputs)

    def _called(self, operation: Any) -> Any:
        """The graph that a call's function was traced into; None for what is no call, or none that can be seen through."""
        if operation.type not in CALLS or self._depth > MAX_DEPTH:
            return None
        function = self._graph._get_function(operation.get_attr("f").name)
        body = getattr(function, "graph", None)
        fits = body is not None and (len(body.inputs), len(body.outputs)) == (len(operation.inputs), len(operation.outputs))
        return body if fits else None

    def _inline(self, operation: Any, func_graph: Any) -> None:
        names = [tensor.name for tensor in func_graph.inputs]
        tensors = dict(zip(names, map(self._tensor, operation.inputs), strict=True))
        waits = [*self._controls(operation.control_inputs), *self._waits]
        body = _Body(self._made, func_graph, f"{self._prefix}{operation.name}{MARK}", tensors, waits, self._depth + 1)
        body.copy()
        for tensor, stands in zip(operation.outputs, body.outputs(), strict=True):
            self._tensors[tensor.name] = stands
        self._ends[operation.name] = body.effects() or waits

    def _copy(self, operation: Any) -> None:
        name = f"{self._prefix}{operation.name}"
        node = self._made.graph_def.node.add()
        node.CopyFrom(operation.node_def)
        node.name, node.device = name, ""
        waits = self._waits if operation.op_def.is_stateful or not operation.inputs else []
        del node.input[:]
        node.input.extend(map(self._tensor, operation.inputs))
        node.input.extend(f"^{one}" for one in dict.fromkeys([*self._controls(operation.control_inputs), *waits]))
        node.attr.pop("_class", None)
        self._made.origins[name] = operation

    def _tensor(self, tensor: Any) -> str:
        return self._tensors.get(tensor.name, f"{self._prefix}{tensor.name}")

    def _controls(self, operations: Iterable[Any]) -> list[str]:
        found = (self._ends.get(one.name, [f"{self._prefix}{one.name}"]) for one in operations)
        return list(dict.fromkeys(name for names in found for name in names))
