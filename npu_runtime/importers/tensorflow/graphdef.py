"""TensorFlow's graph becomes ours, node by node, and keeps up as the user's program adds to it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
from google.protobuf import text_format
from tensorflow.core.framework import attr_value_pb2, graph_pb2, node_def_pb2, op_def_pb2, tensor_shape_pb2
from tensorflow.python.framework import dtypes as tf_dtypes
from tensorflow.python.framework import op_def_registry, tensor_util

from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.ops import ENTERS, NOT_COMPILED, SWITCHES
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.importers.tensorflow.devices import Devices
from npu_runtime.importers.tensorflow.functions import MARK, Inliner, device_op
from npu_runtime.importers.tensorflow.input_lines import lines_of_input
from npu_runtime.importers.tensorflow.source_lines import users_line
from npu_runtime.importers.tensorflow.tensor_specs import import_spec
from npu_runtime.kernels.control.variants import ADD_VARIANTS, ZERO_VARIANTS

_INPUT = re.compile(r"^(?P<node>[^:^]+)(?::(?P<index>\d+))?$")


class GraphImporter:
    """Follows one tf.Graph. `graph` is ours; `update()` adds what is new since the last call.

    Source: operations are only ever appended to a tf.Graph; an operation changed after a session ran it keeps its first
    meaning, as in TensorFlow ("mutation will have no effect").
    """

    def __init__(self, tf_graph: Any, devices: Devices | None = None) -> None:
        self.tf_graph = tf_graph
        self.graph = Graph()
        self._devices = devices or Devices(None)
        self.version = -1
        self._inliner = self._make_inliner()

    def _make_inliner(self) -> Inliner:
        return Inliner(self.tf_graph, self.graph, import_operation)

    def is_behind(self) -> bool:
        """Whether the user's graph has grown since the last update."""
        return self.tf_graph.version != self.version

    def update(self) -> bool:
        """Import new operations; True when there were any.  Raises: InvalidArgument for a device that the session has not."""
        version = self.tf_graph.version
        if version == self.version:
            return False
        added = [operation for operation in self.tf_graph.get_operations() if operation.name not in self.graph]
        for operation in added:
            self._devices.check(operation)
        for operation in added:
            if operation.name not in self.graph:
                self._add(operation)
        self.version = version
        return True

    def trainable(self) -> frozenset[str]:
        """Names of the nodes of the variables that the user's program trains."""
        found = self.tf_graph.get_collection("trainable_variables")  # programs may put anything there
        return frozenset(variable.op.name for variable in found if hasattr(variable, "op"))

    def definition(self, name: str) -> node_def_pb2.NodeDef:
        """The NodeDef of a node, also of one that came out of a function's body."""
        inlined = self._inliner.definitions.get(name)
        return self.tf_graph.get_operation_by_name(name).node_def if inlined is None else inlined

    def text_of(self, names: Iterable[str]) -> str:
        """The user's nodes of these names as the text of a GraphDef."""
        known = {operation.name for operation in self.tf_graph.get_operations()}
        definition = graph_pb2.GraphDef(node=[self.definition(name) for name in names if name in known])
        return str(text_format.MessageToString(definition))

    def source_of(self, name: str) -> str:
        """Line "file:line" of the user's code that made a node, "" if unknown. For a gradient node it is the line of the forward
        node."""
        try:
            operation = self.tf_graph.get_operation_by_name(name.split(MARK)[0])
        except (KeyError, ValueError):
            return ""
        return users_line(operation)

    def lines_of_input(self, name: str) -> tuple[str, ...]:
        """ "file:line" of each of the user's places that gives an input its shape, see `input_lines`."""
        return lines_of_input(self.tf_graph, name)

    def resolve(self, name: str) -> Value:
        """A tensor by TensorFlow's name; of a call that was expanded what stands for its output."""
        return self._inliner.resolve(parse_value(name))

    def _add(self, operation: Any) -> None:
        node = import_operation(operation)
        for value in node.inputs:
            self._check_output(node, value)
        node.inputs = [self._inliner.resolve(value) for value in node.inputs]
        self._inliner.has_control_flow |= node.op in ENTERS | SWITCHES
        if NOT_COMPILED not in node.attrs:
            node.op = device_op(node) or node.op
        for made in self._inliner.expand(operation, node):
            if NOT_COMPILED in node.attrs:
                made.attrs.setdefault(NOT_COMPILED, node.attrs[NOT_COMPILED])
            self.graph.add(made)

    def _check_output(self, reader: Node, value: Value) -> None:
        """Refuse an output that an operation got after it was imported.

        Source: `tf.gradients` gives a call of a tf.function more outputs; a session that has run the call refuses the graph.
        """
        producer = self.graph.nodes.get(value.node)
        if producer is None or value.output < len(producer.outputs) or value in self._inliner.aliases:
            return
        n_outputs = len(producer.outputs) or sum(known.node == value.node for known in self._inliner.aliases)
        raise InvalidArgument(
            f"Connecting to invalid output {value.output} of source node {value.node} which has {n_outputs} outputs; "
            "it was changed after this session had run it; take gradients first, or make a new session",
            reader.name,
            reader.op,
        )


def import_operation(operation: Any) -> Node:
    """One tf.Operation as a Node; shapes and dtypes are those that TensorFlow inferred.

    The shape of a resource is that of what it leads to: of a variable's handle its value's, else unknown.
    """
    node_def = operation.node_def
    inputs, controls = parse_inputs(node_def.input)
    outputs = [import_spec(t) for t in operation.outputs]
    ref_outputs = frozenset(i for i, t in enumerate(operation.outputs) if t.dtype._is_ref_dtype)
    attrs = {name: import_attr(value) for name, value in node_def.attr.items() if name != "_output_shapes"}
    definition = operation.op_def
    node = Node(node_def.name, node_def.op, inputs, controls, attrs, outputs, _ref_inputs(definition, attrs), ref_outputs)
    node.is_stateful = definition.is_stateful
    if attrs.get("T") == "variant":
        node.op = {"AddN": ADD_VARIANTS, "ZerosLike": ZERO_VARIANTS}.get(node.op, node.op)
    if node.op == "Const":
        node.outputs = [Spec(attrs["value"].shape, outputs[0].dtype, attrs["value"])]
    elif node.op in ("VarHandleOp", "VariableV2", "Variable"):
        node.outputs = [Spec(attrs.get("shape"), outputs[0].dtype)]
    return node


def parse_inputs(names: Any) -> tuple[list[Value], list[str]]:
    """NodeDef input strings ("a", "a:1", "^b") as data inputs and control inputs."""
    inputs, controls = [], []
    for name in names:
        if name.startswith("^"):
            controls.append(name[1:])
        else:
            inputs.append(parse_value(name))
    return inputs, controls


def parse_value(name: str) -> Value:
    """ "a:1" as a Value; "a" is its first output."""
    match = _INPUT.match(name)
    if match is None:
        raise ValueError(f"{name!r} is not the name of a tensor")
    return Value(match["node"], int(match["index"] or 0))


def import_attr(value: attr_value_pb2.AttrValue) -> Any:
    """An AttrValue as a plain Python value; text is decoded, types are their names, tensors are arrays."""
    kind = value.WhichOneof("value")
    if kind == "list":
        return _import_list(value.list)
    if kind is None:
        return None
    return _import_scalar(kind, getattr(value, kind))


def _import_list(items: attr_value_pb2.AttrValue.ListValue) -> list[Any]:
    for field, values in items.ListFields():
        return [_import_scalar(field.name, v) for v in values]
    return []


def _import_scalar(kind: str, value: Any) -> Any:
    if kind == "s":
        return value.decode("utf-8", "surrogateescape")
    if kind == "type":
        return tf_dtypes.as_dtype(value).base_dtype.name
    if kind == "shape":
        return _import_shape_proto(value)
    if kind == "tensor":
        return _import_tensor(value)
    return value.name if kind == "func" else value


def _import_tensor(value: Any) -> np.ndarray:
    """MakeNdarray fails on text without elements: the proto of such a tensor may hold one empty string."""
    shape = _import_shape_proto(value.tensor_shape)
    if shape is not None and 0 in shape:
        return np.empty([n or 0 for n in shape], tf_dtypes.as_dtype(value.dtype).as_numpy_dtype)
    return np.asarray(tensor_util.MakeNdarray(value))


def _import_shape_proto(shape: tensor_shape_pb2.TensorShapeProto) -> Shape:
    return None if shape.unknown_rank else tuple(None if d.size < 0 else d.size for d in shape.dim)


@cache
def _ref_args(op: str) -> tuple[tuple[int, bool, str, str], ...]:
    definition = op_def_registry.get(op)
    args = definition.input_arg if definition is not None else ()
    return tuple((i, arg.is_ref, arg.number_attr, arg.type_list_attr) for i, arg in enumerate(args))


def _ref_inputs(definition: op_def_pb2.OpDef, attrs: dict[str, Any]) -> frozenset[int]:
    """Flat positions of inputs that take a reference."""
    found, position = set(), 0
    for _, is_ref, number, type_list in _ref_args(definition.name):
        length = attrs[number] if number else len(attrs[type_list]) if type_list else 1
        if is_ref:
            found |= set(range(position, position + length))
        position += length
    return frozenset(found)
