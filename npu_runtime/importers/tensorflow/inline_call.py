"""The nodes that take the place of one call: its functions' bodies and what joins them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from tensorflow.core.framework import attr_value_pb2, node_def_pb2
from tensorflow.python.framework import dtypes, tensor_util

from npu_runtime.graph.ir import Node, Value
from npu_runtime.graph.ops import HANDLES, SWITCHES
from npu_runtime.graph.spec import Spec
from npu_runtime.importers.tensorflow.tensor_specs import import_spec

MARK = "/inlined/"
"""Separator between the name of a call and the name of a node made for it."""
TRUTH = Spec((), "bool")


class Expansion:
    """One call being expanded.  call: its node.  nodes: those made so far, with names that begin with the call's."""

    def __init__(self, inliner: Any, operation: Any, call: Node, functions: Sequence[str], depth: int) -> None:
        self.call = call
        self.nodes: list[Node] = []
        self._inliner, self._operation, self._functions, self._depth = inliner, operation, functions, depth

    @cached_property
    def waits(self) -> list[str]:
        """The control inputs of sources inside: those of the call, and with control flow of TensorFlow 1 inputs, which tell the
        frame and the branch. A Switch runs for both of its sides, so a node that reads the side stands for it. The Switches of
        a call in a conditional are made behind it, and are not known yet.
        """
        if not self._inliner.has_control_flow:
            return list(self.call.controls)
        inputs = self.call.inputs
        sides = [position for position, value in enumerate(inputs) if self._inliner.op(value) in {None, *SWITCHES}]
        waited = [self._reader(position) for position in sides] or [value.node for value in inputs[:1]]
        return [*self.call.controls, *waited]

    def _reader(self, position: int) -> str:
        spec = self.spec_of_input(position)
        return self.add(f"side_{position}", "Identity", [self.call.inputs[position]], [spec], T=spec.dtype).node

    def function(self, number: int) -> str:
        """Name of one of the functions called."""
        return self._functions[number]

    def load(self, number: int, specs: Sequence[Spec] | None = None) -> Any:
        """The body of one of the functions called."""
        return self._inliner.load(self._functions[number], specs)

    def spec_of_input(self, position: int) -> Spec:
        """Spec of an input of the call; that of a handle is the spec of the variable behind it."""
        value, tensor = self.call.inputs[position], self._operation.inputs[position]
        found: Spec = self._inliner.spec(value, import_spec(tensor))
        return Spec(found.shape, found.dtype)

    def spec(self, value: Value, otherwise: Spec) -> Spec:
        """The spec of a value made so far, `otherwise` if it is not made yet."""
        found: Spec = self._inliner.spec(value, otherwise)
        return found

    def add(
        self, tag: str, op: str, inputs: Sequence[Value], outputs: Sequence[Spec], controls: Sequence[str] = (), **attrs: Any
    ) -> Value:
        """A node between the bodies; returns its first output."""
        name = inner_name(self.call, f"lowered/{tag}")
        node = Node(name, op, list(inputs), list(dict.fromkeys(controls)), attrs, list(outputs))
        self._inliner.register(node, _definition(name, op, attrs))
        self.nodes.append(node)
        return Value(name)

    def inline(self, body: Any, prefix: str, arguments: Sequence[Value], waits: Sequence[str]) -> tuple[list[Value], list[str]]:
        """The nodes of a body; returns its results and the names of the nodes that have effects."""
        made, results, effects = self._inliner.inline(body, self.call, prefix, arguments, waits, self._depth)
        self.nodes += made
        return results, effects

    def truth(self, value: Value, spec: Spec, tag: str, controls: Sequence[str] = ()) -> Value:
        """A value as a predicate.  Source: op `ToBool`: a number is compared with 0, what has a rank with emptiness."""
        if spec.dtype == "bool" and not spec.shape:
            return value
        return self.add(tag, "ToBool", [value], [TRUTH], controls, T=spec.dtype)

    def finish(self, results: Sequence[Value], effects: Sequence[str]) -> None:
        """Adds a node that stands for each output, and one with the call's name that waits for all; `effects` come first.

        Handles have no node of their own, as they are neither fed nor fetched: whoever reads one reads the variable.
        """
        waits = list(effects)
        for index, (value, spec) in enumerate(zip(results, self.call.outputs, strict=True)):
            stands = value
            if spec.dtype not in HANDLES:
                stands = self.add(f"output_{index}", "Identity", [value], [spec], effects, T=spec.dtype)
                waits.append(stands.node)
            self._inliner.aliases[Value(self.call.name, index)] = stands
        end = Node(self.call.name, "NoOp", [], list(dict.fromkeys([*self.call.controls, *waits])))
        self._inliner.register(end, node_def_pb2.NodeDef(name=end.name, op="NoOp"))
        self.nodes.append(end)


def inner_name(call: Node, name: str) -> str:
    return f"{call.name}{MARK}{name}"


def _definition(name: str, op: str, attrs: dict[str, Any]) -> node_def_pb2.NodeDef:
    made = node_def_pb2.NodeDef(name=name, op=op)
    for key, value in attrs.items():
        made.attr[key].CopyFrom(_attr(key, value))
    return made


def _attr(key: str, value: Any) -> attr_value_pb2.AttrValue:
    if key in ("T", "dtype"):
        return attr_value_pb2.AttrValue(type=dtypes.as_dtype(value).as_datatype_enum)
    if isinstance(value, np.ndarray):
        return attr_value_pb2.AttrValue(tensor=tensor_util.make_tensor_proto(value))
    if isinstance(value, bool):
        return attr_value_pb2.AttrValue(b=value)
    return attr_value_pb2.AttrValue(i=value) if isinstance(value, int) else attr_value_pb2.AttrValue(s=value.encode())
