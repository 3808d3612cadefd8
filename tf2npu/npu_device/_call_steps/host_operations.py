"""Operations of a function on what only eager code has, such as iterators, tables and writers: eager code does them.

What they give is fed to the graph's session. What gives nothing, as the writer of a summary, is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from typing import Any

import numpy as np
from tensorflow.core.framework import graph_pb2, tensor_shape_pb2
from tensorflow.python.eager import context, execute
from tensorflow.python.framework import constant_op, dtypes, op_def_registry, tensor_shape, tensor_util

from npu_runtime.graph.ops import HANDLES

Value = Callable[[str], Any]
"""value(tensor): the array of a tensor of the graph that the session computes."""


def leave_out_writers(definition: graph_pb2.GraphDef, handles: set[str]) -> None:
    """Let nodes that read one of the handles and give nothing do nothing."""
    for node in definition.node:
        known = op_def_registry.get(node.op)
        reads = any(name.partition(":")[0] in handles for name in node.input)
        if reads and known is not None and not known.output_arg:
            controls = [name for name in node.input if name.startswith("^")]
            name = node.name
            node.Clear()
            node.name, node.op = name, "NoOp"
            node.input.extend(controls)


def host_operations(graph: Any, handles: set[str]) -> list[Any]:
    """The operations of a tf.Graph that read one of the handles, or another such value of such an operation, in order."""
    outside, found = {f"{name}:0" for name in handles}, []
    for operation in graph.get_operations():
        if any(tensor.name in outside for tensor in operation.inputs):
            found.append(operation)
            outside.update(tensor.name for tensor in operation.outputs if is_handle(tensor))
    return found


def wait_for_none(definition: graph_pb2.GraphDef, names: set[str]) -> None:
    """Let no node wait for nodes of these names: what they give is there before the step."""
    for node in definition.node:
        kept = [name for name in node.input if not (name.startswith("^") and name[1:] in names)]
        del node.input[:]
        node.input.extend(kept)


def is_handle(tensor: Any) -> bool:
    """Whether a tensor holds no numbers and no text."""
    return is_handle_type(tensor.dtype)


def is_handle_type(dtype: Any) -> bool:
    """Whether a tf.DType is one of handles."""
    return dtype.base_dtype.name in HANDLES


def run(operations: list[Any], known: Mapping[str, Any], feeds: MutableMapping[str, np.ndarray], value: Value) -> None:
    """Do operations in the eager context, and add what they give to `feeds`.  known: eager handles by the tensor's name."""
    eager = dict(known)
    for operation in operations:
        inputs = [eager[tensor.name] if tensor.name in eager else _constant(tensor, feeds, value) for tensor in operation.inputs]
        for tensor, result in zip(operation.outputs, eagerly(operation, inputs), strict=True):
            if is_handle(tensor):
                eager[tensor.name] = result
            else:
                feeds[tensor.name] = np.asarray(result.numpy())


def _constant(tensor: Any, feeds: Mapping[str, np.ndarray], value: Value) -> Any:
    found = feeds[tensor.name] if tensor.name in feeds else value(tensor.name)
    return constant_op.constant(found, tensor.dtype)


def eagerly(operation: Any, inputs: list[Any]) -> list[Any]:
    """The results of an operation of a graph, of eager tensors.  Raises: tf.errors.OpError."""
    if operation.type == "Const":
        return [constant_op.constant(tensor_util.MakeNdarray(operation.get_attr("value")), operation.outputs[0].dtype)]
    attributes: list[Any] = []
    for attribute in operation.op_def.attr:
        attributes += [attribute.name, _attribute(operation.get_attr(attribute.name))]
    ctx = context.context()
    return list(execute.execute(operation.type.encode(), len(operation.outputs), inputs, tuple(attributes), ctx))


def _attribute(value: Any) -> Any:
    """The value of an attribute as the eager context takes it, where graphs give another form."""
    if isinstance(value, list):
        return [_attribute(one) for one in value]
    if isinstance(value, dtypes.DType):
        return value.as_datatype_enum
    if isinstance(value, tensor_shape_pb2.TensorShapeProto):
        shape = tensor_shape.TensorShape(value)
        return None if shape.rank is None else shape.as_list()
    return getattr(value, "name", value)
