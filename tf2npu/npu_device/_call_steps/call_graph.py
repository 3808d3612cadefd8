"""A function, called with one set of variables, as a graph with a session: what it is given is fed, variables are its nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import tensorflow.compat.v1 as tf
from npu_bridge._check.cpu_layouts import with_transposes
from npu_bridge._check.session_hooks import for_the_cpu
from npu_bridge._check.step_graph import Asked, Variable
from npu_bridge._reference.recorder import FUNCTION
from npu_device._call_steps.host_operations import host_operations, is_handle, leave_out_writers, wait_for_none
from npu_device._call_steps.inlined_definition import InlinedDefinition, inlined
from tensorflow.core.framework import graph_pb2
from tensorflow.python.ops import gen_resource_variable_ops

from npu_runtime.importers.tensorflow.handles import Handle


@dataclass(frozen=True)
class EagerVariable:
    """A variable of eager code.  name: for the nodes of graphs.  origin: knows the line that made it, None for none."""

    handle: Handle
    name: str
    is_trainable: bool
    origin: Any = None


class CallGraph:
    """func_graph: of the function.  variables: what each input leads to, None for an input that is no variable.

    feeds: name of the tensor that each input gives the value of, by the input's position; handles: likewise of handles.
    nodes: of variables.  sources: operations that only eager code can do.  tensors: as an InlinedDefinition has them.
    """

    def __init__(self, func_graph: Any, variables: Sequence[EagerVariable | None]) -> None:
        given = list(enumerate(func_graph.inputs))
        self.nodes = _nodes(func_graph, variables)
        self.feeds = {i: tensor.name for i, tensor in given if not is_handle(tensor)}
        self.handles = {i: tensor.name for i, tensor in given if is_handle(tensor) and i not in self.nodes}
        self.trainable = {name for i, name in self.nodes.items() if getattr(variables[i], "is_trainable", False)}
        made = inlined(func_graph, {tensor.op.name: self.nodes.get(i, tensor.op.name) for i, tensor in given})
        made.origins.update({tensor.op.name: tensor.op for i, tensor in given if i not in self.nodes})
        made.origins.update({name: getattr(variables[i], "origin", None) for i, name in self.nodes.items()})
        outside = {func_graph.inputs[i].op.name for i in self.handles}
        leave_out_writers(made.graph_def, outside)
        _add_inputs(made.graph_def, func_graph, variables, self.nodes)
        self.sources = host_operations(_imported(made.graph_def), outside) if outside else []
        names = {operation.name for operation in self.sources}
        wait_for_none(made.graph_def, names)
        self.outputs, self.tensors = made.outputs, made.tensors
        self._effects = [name for name in made.effects if name not in names]
        self.graph: Any = _in_a_thread_of_its_own(lambda: _graph(made, set(self.nodes.values()), self.trainable))
        setattr(self.graph, FUNCTION, func_graph.name)
        self.session = tf.Session(graph=self.graph, config=with_transposes(for_the_cpu(None), self.graph))

    def asked(self) -> Asked:
        """The request of a call."""
        drawn = [tensor.name for one in self.sources for tensor in one.outputs if not is_handle(tensor)]
        feeds = (*self.feeds.values(), *drawn)
        fetches = [name for name in self.outputs if name not in feeds and not is_handle(self.graph.get_tensor_by_name(name))]
        return Asked(tuple(dict.fromkeys(fetches)), tuple(self._effects), feeds)

    def type_of(self, variable: str) -> Any:
        """The type of a variable's elements.  variable: its node."""
        return tf.as_dtype(self.graph.get_operation_by_name(variable).get_attr("dtype"))


def _nodes(func_graph: Any, variables: Sequence[EagerVariable | None]) -> dict[int, str]:
    """The node of the variable that each input leads to: one for a variable, called as no other."""
    taken = {operation.name for operation in func_graph.get_operations()}
    names: dict[str, str] = {}
    for variable in filter(None, variables):
        if variable.handle.name not in names:
            name = variable.name
            while name in taken:
                name += "_"
            names[variable.handle.name] = name
            taken.add(name)
    return {i: names[one.handle.name] for i, one in enumerate(variables) if one is not None}


def _add_inputs(
    definition: graph_pb2.GraphDef, func_graph: Any, variables: Sequence[EagerVariable | None], nodes: Mapping[int, str]
) -> None:  # fmt: skip
    known: set[str] = set()
    for position, (tensor, variable) in enumerate(zip(func_graph.inputs, variables, strict=True)):
        if variable is None:
            node = definition.node.add()
            node.CopyFrom(tensor.op.node_def)
            node.attr.pop("_class", None)
        elif nodes[position] not in known:
            known.add(nodes[position])
            node = definition.node.add(name=nodes[position], op="VarHandleOp")
            node.attr["dtype"].type = tf.as_dtype(variable.handle.dtype).as_datatype_enum
            node.attr["shared_name"].s = nodes[position].encode()  # without one, all are the same variable
            node.attr["shape"].shape.CopyFrom(tf.TensorShape(variable.handle.shape).as_proto())


def _graph(made: InlinedDefinition, variables: set[str], trainable: set[str]) -> Any:
    graph = _imported(made.graph_def)
    with graph.as_default():
        for name in sorted(variables):
            _add_access(graph, name)
    for name in sorted(trainable):
        graph.add_to_collection("trainable_variables", graph.get_tensor_by_name(f"{name}:0"))
    for operation in graph.get_operations():
        operation._original_op = made.origins.get(operation.name)  # which knows its line
    return graph


def _imported(definition: graph_pb2.GraphDef) -> Any:
    graph = tf.Graph()
    with graph.as_default():
        tf.graph_util.import_graph_def(definition, name="")
    return graph


def access_of(name: str) -> Variable:
    """The operations by which steps read and set a variable.  name: of its node."""
    return Variable(name, f"{name}/Read/ReadVariableOp:0", f"{name}/Assign", f"{name}/Initializer/given:0")


def _add_access(graph: Any, name: str) -> None:
    handle, access = graph.get_tensor_by_name(f"{name}:0"), access_of(name)
    dtype = tf.as_dtype(handle.op.get_attr("dtype"))
    gen_resource_variable_ops.read_variable_op(handle, dtype, name=access.reads.removesuffix(":0"))
    given = tf.placeholder(dtype, None, name=access.given.removesuffix(":0"))
    gen_resource_variable_ops.assign_variable_op(handle, given, name=access.sets)


def _in_a_thread_of_its_own(make: Callable[[], Any]) -> Any:
    """The result of `make`, whose operations have no line there of the script that happens to call the function."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(make).result()
