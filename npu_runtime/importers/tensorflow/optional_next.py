"""The next element of an iterator that may have ended: the host says whether there is one and hands over its tensors.

Before: optional = IteratorGetNextAsOptional(iterator), all on the host with the conditional that uses the optional.
After: has, tensors = host(iterator); optional = Merge(OptionalNone, OptionalFromValue(Switch(tensors, has):1)) on the device.

Source: AutoGraph makes `for element in iterator` of this operation and a conditional (autograph/operators/control_flow.py). An
optional cannot cross to the device; tensors can, empty ones where there is no element.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from tensorflow.core.framework import attr_value_pb2, node_def_pb2
from tensorflow.python.framework import dtypes, tensor_util

from npu_runtime.dtypes import ALL, to_numpy
from npu_runtime.graph.ir import Node, Value
from npu_runtime.graph.spec import Spec
from npu_runtime.importers.tensorflow.inline_call import TRUTH, inner_name

NEXT_OPTIONAL = "IteratorGetNextAsOptional"
VARIANT = Spec((), "variant")
INDEX = Spec((), "int32")


def can_be_handed_over(node: Node) -> bool:
    """Whether a node gives an optional of tensors that the device has."""
    return node.op == NEXT_OPTIONAL and all(dtype in ALL for dtype in node.attrs["output_types"])


def hand_over(inliner: Any, call: Node, definition: Any) -> tuple[list[Node], Value]:
    """The nodes that take the place of a call, and the device's optional. The call becomes a node that waits for the host's.

    definition: NodeDef of the call.
    """
    handing = _Handing(inliner, call, definition)
    has, tensors = handing.host()
    optional = handing.device(has, tensors)
    call.op, call.inputs, call.controls, call.attrs, call.outputs = "NoOp", [], [has.node], {}, []
    inliner.register(call, node_def_pb2.NodeDef(name=call.name, op="NoOp"))
    return handing.nodes, optional


class _Handing:
    """One optional.  nodes: those made so far."""

    def __init__(self, inliner: Any, call: Node, definition: Any) -> None:
        self.nodes: list[Node] = []
        self._inliner, self._call, self._definition = inliner, call, definition
        shapes = call.attrs.get("output_shapes") or [None] * len(call.attrs["output_types"])
        self._specs = [Spec(shape, dtype) for shape, dtype in zip(shapes, call.attrs["output_types"], strict=True)]

    def host(self) -> tuple[Value, list[Value]]:
        """Whether there is an element, and its tensors."""
        given = {name: self._definition.attr[name] for name in ("output_types", "output_shapes")}
        optional = self._add("next", NEXT_OPTIONAL, self._call.inputs, [VARIANT], self._call.controls, **given)
        has = self._add("has", "OptionalHasValue", [optional], [TRUTH])
        side = self._add("side", "Switch", [optional, has], [VARIANT, VARIANT], T="variant")
        found = self._add("value", "OptionalGetValue", [Value(side.node, 1)], self._specs, **given)
        nothing = self._pivot("host", has)
        tensors = []
        for i, spec in enumerate(self._specs):
            empty = np.zeros([n or 0 for n in spec.shape or (0,)] if spec.shape != () else (), to_numpy(spec.dtype))
            zeros = self._add(
                f"empty_{i}", "Const", [], [Spec(empty.shape, spec.dtype, empty)], [nothing], dtype=spec.dtype, value=empty
            )
            tensors.append(self._merge(f"tensor_{i}", [zeros, Value(found.node, i)], spec))
        return has, tensors

    def device(self, has: Value, tensors: Sequence[Value]) -> Value:
        """The optional of the device."""
        sides = []
        for i, (tensor, spec) in enumerate(zip(tensors, self._specs, strict=True)):
            side = self._add(f"taken_{i}", "Switch", [tensor, has], [spec, spec], T=spec.dtype)
            sides.append(Value(side.node, 1))
        types = {"Toutput_types": self._definition.attr["output_types"]}
        some = self._add("some", "OptionalFromValue", sides, [VARIANT], **types)
        none = self._add("none", "OptionalNone", [], [VARIANT], [self._pivot("device", has)])
        return self._merge("optional", [none, some], VARIANT)

    def _pivot(self, tag: str, has: Value) -> str:
        """The node that runs where there is no element."""
        side = self._add(f"{tag}_switch", "Switch", [has, has], [TRUTH, TRUTH], T="bool")
        return self._add(f"{tag}_pivot", "Identity", [side], [TRUTH], T="bool").node

    def _merge(self, tag: str, values: Sequence[Value], spec: Spec) -> Value:
        return self._add(tag, "Merge", values, [Spec(spec.shape, spec.dtype), INDEX], T=spec.dtype, N=len(values))

    def _add(
        self, tag: str, op: str, inputs: Sequence[Value], outputs: Sequence[Spec], controls: Sequence[str] = (), **attrs: Any
    ) -> Value:
        name = inner_name(self._call, tag)
        definition = node_def_pb2.NodeDef(name=name, op=op)
        for key, value in attrs.items():
            definition.attr[key].CopyFrom(_attr(key, value))
        own = {key: value for key, value in attrs.items() if not isinstance(value, attr_value_pb2.AttrValue)}
        if op == "OptionalGetValue":
            own = {name: self._call.attrs.get(name) for name in ("output_types", "output_shapes")}
        node = Node(name, op, list(inputs), list(controls), own, list(outputs))
        node.is_stateful = op == NEXT_OPTIONAL
        self._inliner.register(node, definition)
        self.nodes.append(node)
        return Value(name)


def _attr(key: str, value: Any) -> attr_value_pb2.AttrValue:
    if isinstance(value, attr_value_pb2.AttrValue):
        return value
    if isinstance(value, np.ndarray):
        return attr_value_pb2.AttrValue(tensor=tensor_util.make_tensor_proto(value))
    if isinstance(value, int):
        return attr_value_pb2.AttrValue(i=value)
    return attr_value_pb2.AttrValue(type=dtypes.as_dtype(value).as_datatype_enum)
