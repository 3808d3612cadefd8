"""Function calls become the nodes of the function's body, so that the passes and the device see through them.

y = PartitionedCall(x; f)   becomes   y/inlined/mul = Mul(x, x);  y = IdentityN(y/inlined/mul)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorflow.core.framework import node_def_pb2
from tensorflow.python.framework import dtypes, function_def_to_graph

from npu_runtime.graph.ir import Node, Value
from npu_runtime.kernels.base import all_kernels

CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})
MARK = "/inlined/"
"""Between the name of a call and the name of a node of its body."""
MAX_DEPTH = 32
"""Deeper calls are recursive functions; they run on the host."""

ImportOperation = Callable[[Any], Node]


def device_op(node: Node) -> str | None:
    """The device's own op that a call stands for, if there is a kernel: the body is its meaning in plain TensorFlow."""
    name = node.attrs.get("_npu_op")
    made = f"_Npu{name}"
    return made if name and node.op in CALLS and made in all_kernels() else None


class Inliner:
    """Expands calls of one user graph.  definitions: NodeDefs of the nodes made, for those that run on the host."""

    def __init__(self, tf_graph: Any, import_operation: ImportOperation) -> None:
        self._tf_graph = tf_graph
        self._import = import_operation
        self.definitions: dict[str, node_def_pb2.NodeDef] = {}

    def expand(self, operation: Any, node: Node, depth: int = 0) -> list[Node]:
        """The nodes that replace a call, the one with the call's name last; [node] when it is no call to be expanded."""
        function = self._tf_graph._get_function(node.attrs["f"]) if node.op in CALLS else None
        if function is None or depth > MAX_DEPTH:
            return [node]
        with self._tf_graph.as_default():
            shapes = [value.shape for value in operation.inputs]
            body = function_def_to_graph.function_def_to_graph(function.definition, input_shapes=shapes)
        return self._expand_body(body, node, depth)

    def _expand_body(self, body: Any, call: Node, depth: int) -> list[Node]:
        arguments = {t.op.name: value for t, value in zip(body.inputs, call.inputs, strict=True)}
        made: list[Node] = []
        for operation in body.get_operations():
            if operation.name not in arguments:
                node = self._inside(operation, call, arguments)
                made += self.expand(operation, node, depth + 1)
        results = [_in_call(Value(t.op.name, t.value_index), call, arguments) for t in body.outputs]
        effects = [node.name for node in made if node.is_stateful]
        effects += [_inner_name(call, op.name) for op in body.control_outputs if op.name not in arguments]
        return [*made, self._result(call, results, effects)]

    def _inside(self, operation: Any, call: Node, arguments: dict[str, Value]) -> Node:
        """A node of the body under its long name; what the call waits for, its sources wait for."""
        node = self._import(operation)
        self.definitions[_inner_name(call, node.name)] = operation.node_def
        node.name = _inner_name(call, node.name)
        node.inputs = [_in_call(value, call, arguments) for value in node.inputs]
        node.controls = [_inner_name(call, name) for name in node.controls if name not in arguments]
        if not node.inputs and not node.controls:
            node.controls = list(call.controls)
        return node

    def _result(self, call: Node, results: list[Value], effects: list[str]) -> Node:
        """Under the call's name: its outputs as those of an IdentityN, after all effects."""
        controls = list(dict.fromkeys([*call.controls, *effects]))
        types = [spec.dtype for spec in call.outputs]
        op = "IdentityN" if results else "NoOp"
        definition = node_def_pb2.NodeDef(name=call.name, op=op)
        if results:
            definition.attr["T"].list.type.extend(dtypes.as_dtype(name).as_datatype_enum for name in types)
        self.definitions[call.name] = definition
        attrs = {"T": types} if results else {}
        return Node(call.name, op, results, controls, attrs, call.outputs)


def _inner_name(call: Node, name: str) -> str:
    return f"{call.name}{MARK}{name}"


def _in_call(value: Value, call: Node, arguments: dict[str, Value]) -> Value:
    return arguments.get(value.node) or Value(_inner_name(call, value.node), value.output)
