"""Builds one graph node for an operator of the device that TensorFlow does not register.

The node is a PartitionedCall whose body is plain TensorFlow. Any TensorFlow can run, save and load it; the attribute
``_npu_op`` tells the importer (`functions.device_op`) which operator of the device it stands for. Its gradient is found under the
attribute ``_gradient_op_type``, the way TensorFlow finds the gradient of its own function calls.

Both shims build their nodes here: those of TensorFlow 1 in its graphs, those of TensorFlow 2 in the graphs of its functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tensorflow.core.framework import attr_value_pb2
from tensorflow.python.eager import context
from tensorflow.python.eager.polymorphic_function import atomic_function
from tensorflow.python.framework import dtypes, func_graph, ops, tensor

Body = Callable[..., tensor.Tensor | Sequence[tensor.Tensor]]


def call(
    npu_op: str,
    body: Body,
    inputs: Sequence[tensor.Tensor],
    *,
    gradient: str | None = None,
    name: str | None = None,
    **attributes: int | bool | str,
) -> list[tensor.Tensor]:
    """Add a node for ``npu_op`` to the default graph; without one (eager execution) compute the body at once.

    body: takes the inputs, any shape of them, and gives a tensor or a list of tensors.
    gradient: name under which the node's gradient is registered.  attributes: of the node beside.
    """
    with ops.name_scope_v1(name, npu_op, inputs):
        inputs = [ops.convert_to_tensor(value) for value in inputs]
        if context.executing_eagerly():
            return _as_list(body(*inputs))
        function, results = _function(npu_op, body, [value.dtype.base_dtype for value in inputs])
        of_node = {
            "f": attr_value_pb2.AttrValue(func=attr_value_pb2.NameAttrList(name=function)),
            "Tin": _types([value.dtype.base_dtype for value in inputs]),
            "Tout": _types(results),
            "_npu_op": attribute(npu_op),
            **{key: attribute(value) for key, value in attributes.items()},
        }
        if gradient:
            of_node["_gradient_op_type"] = attribute(gradient)
        graph = ops.get_default_graph()
        node = graph.create_op("PartitionedCall", list(inputs), results, attrs=of_node, name=graph.get_name_scope() + "/")
        return list(node.outputs)


def _as_list(value: tensor.Tensor | Sequence[tensor.Tensor]) -> list[tensor.Tensor]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _types(types: Sequence[dtypes.DType]) -> attr_value_pb2.AttrValue:
    value = attr_value_pb2.AttrValue()
    value.list.type.extend(dtype.as_datatype_enum for dtype in types)
    return value


def _function(npu_op: str, body: Body, types: Sequence[dtypes.DType]) -> tuple[str, list[dtypes.DType]]:
    """Put the body into the graph's function library, once for each combination of input types."""
    graph = ops.get_default_graph()
    name = "_".join(["npu", npu_op, *[dtype.name for dtype in types]])
    traced = _traced(name, body, types)
    if not graph._is_function(name):
        graph._add_function_recursive(atomic_function.from_func_graph(name, traced, {}))
    return name, [output.dtype for output in traced.outputs]


_bodies: dict[str, func_graph.FuncGraph] = {}


def _traced(name: str, body: Body, types: Sequence[dtypes.DType]) -> func_graph.FuncGraph:
    if name not in _bodies:
        signature = tuple(tensor.TensorSpec(None, dtype) for dtype in types)
        with ops.init_scope():
            _bodies[name] = func_graph.func_graph_from_py_func(name, body, signature, {})
    return _bodies[name]


def mark(operation: ops.Operation, npu_op: str, **attributes: int | bool | str) -> ops.Operation:
    """Note on a plain operation which operator of the device it stands for."""
    operation._set_attr("_npu_op", attribute(npu_op))
    for name, value in attributes.items():
        set_attribute(operation, name, value)
    return operation


def set_attribute(operation: ops.Operation, name: str, value: int | bool | str) -> None:
    """Set one attribute of an operation; the type of the value decides the field."""
    operation._set_attr(name, attribute(value))


def attribute(value: int | bool | str) -> attr_value_pb2.AttrValue:
    """An attribute value of the field that fits: b for bool, i for int, s for text."""
    if isinstance(value, bool):
        return attr_value_pb2.AttrValue(b=value)
    if isinstance(value, int):
        return attr_value_pb2.AttrValue(i=value)
    return attr_value_pb2.AttrValue(s=value.encode())
