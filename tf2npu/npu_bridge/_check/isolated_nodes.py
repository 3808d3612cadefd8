"""A copy of a step's graph that is cut at tensors: TensorFlow computes each of them from given values of those before it.

So each node is seen by itself: what it makes of a run's own inputs, whatever went wrong before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf
from npu_bridge._check.session_hooks import for_the_cpu, passing
from npu_bridge._check.step_graph import GENERATORS, StepGraph, Variable
from tensorflow.core.framework import graph_pb2
from tensorflow.python.ops import gen_resource_variable_ops, state_ops

Values = Mapping[str, np.ndarray]
"""Values of tensors or variables, by name."""

_OUTSIDE = ("LookupTable", "Queue", "PyFunc", "EagerPyFunc", *GENERATORS)
"""Beginnings of ops that look at what the copy does not have, tables and queues, that run the script's code once more, or that
draw one after another from the state of a generator, whose order the copy does not keep: their results are given, too."""

FEWEST_PART_BYTES, MOST_PARTS = 16 << 20, 16
"""Bytes of results at a time, and the most parts: all results of a large model would be as much memory as its step takes, and
each part is a program of TensorFlow's own."""


class IsolatedNodes:
    """step: of runs.  In the copy, what reads a tensor reads a node that gives what it is fed, or else what the tensor's own node
    computes, so that one copy serves runs that know other tensors.
    """

    def __init__(self, step: StepGraph) -> None:
        self._step = step
        self._outside = set(step.seen_late) | {
            tensor.name for operation in step.operations if operation.type.startswith(_OUTSIDE) for tensor in operation.outputs
        }
        cut = dict.fromkeys([*step.asked.feeds, *step.drawn, *step.tensors])
        self._names = {name: f"tf2npu_given/{i}" for i, name in enumerate(cut)}
        self._graph = tf.Graph()
        with self._graph.as_default():
            tf.graph_util.import_graph_def(self._definition(), name="")
            self._assigns = {variable.name: self._assign(variable) for variable in step.variables}
        self._cut_at = {self._graph.get_operation_by_name(node): name for name, node in self._names.items()}
        self._session = tf.Session(graph=self._graph, config=for_the_cpu(None))

    def close(self) -> None:
        """Let go of what TensorFlow keeps for the copy."""
        self._session.close()

    def _definition(self) -> graph_pb2.GraphDef:
        definition = graph_pb2.GraphDef()
        whole = self._step.graph.as_graph_def()
        definition.versions.CopyFrom(whole.versions)
        definition.library.CopyFrom(whole.library)
        for name, node_name in self._names.items():
            tensor = self._step.graph.as_graph_element(name)
            is_computed = tensor.op.name in self._step.by_name
            node = definition.node.add(name=node_name, op="PlaceholderWithDefault" if is_computed else "Placeholder")
            node.input.extend([name] if is_computed else [])
            node.attr["dtype"].type = tensor.dtype.base_dtype.as_datatype_enum
            node.attr["shape"].shape.CopyFrom(tensor.shape.as_proto())
        for operation in self._step.operations:
            node = definition.node.add()
            node.CopyFrom(operation.node_def)
            node.device = ""
            del node.input[:]
            node.input.extend(self._input(tensor) for tensor in operation.inputs)
            if operation._get_control_flow_context() is not None:
                node.input.extend(f"^{other.name}" for other in operation.control_inputs if other.name in self._step.by_name)
            node.attr.pop("_class", None)
        return definition

    def _input(self, tensor: Any) -> str:
        if tensor.name in self._names and not tensor.dtype._is_ref_dtype:
            return self._names[tensor.name]
        return str(tensor.name)

    def _assign(self, variable: Variable) -> tuple[Any, Any]:
        """A placeholder, and the operation that gives its value to the variable."""
        operation = self._graph.get_operation_by_name(variable.name)
        dtype = tf.as_dtype(operation.get_attr("dtype"))
        value = tf.placeholder(dtype, None)
        if operation.type == "VarHandleOp":
            return value, gen_resource_variable_ops.assign_variable_op(operation.outputs[0], value)
        return value, state_ops.assign(operation.outputs[0], value, validate_shape=False).op

    def parts(self, values: Mapping[str, np.ndarray]) -> Iterator[list[str]]:
        """The tensors of `values` that the copy can compute, in parts: so much is computed at a time."""
        computed = [name for name in self._step.tensors if name in values and name not in self._outside]
        sizes = {name: values[name].nbytes for name in computed}
        most = max(FEWEST_PART_BYTES, sum(sizes.values()) // MOST_PARTS)
        part, n_bytes = [], 0
        for name, size in sizes.items():
            if part and n_bytes + size > most:
                yield part
                part, n_bytes = [], 0
            part.append(name)
            n_bytes += size
        if part:
            yield part

    def read_by(self, wanted: Iterable[str], values: Values, variables: Values) -> tuple[Values, Values]:
        """The values and the variables of which some tensors are made, where the copy is given all of the values."""
        left = [self._graph.get_tensor_by_name(name).op for name in wanted]
        seen, read, held = set(left), {}, {}
        while left:
            operation = left.pop()
            name = self._cut_at.get(operation, "")
            if name in values:
                read[name] = values[name]
                continue
            if operation.name in self._assigns and operation.name in variables:
                held[operation.name] = variables[operation.name]
            before = {*(tensor.op for tensor in operation.inputs), *operation.control_inputs} - seen
            seen |= before
            left += before
        return read, held

    def compute(self, wanted: Sequence[str], values: Values, variables: Values) -> dict[str, np.ndarray]:
        """Some of the tensors, computed of the given values.  variables: those to set, as what is computed may change them.

        Raises: tf.errors.OpError.
        """
        with passing():
            if variables:
                assigns = {name: self._assigns[name] for name in variables}
                self._session.run(
                    [assign for _, assign in assigns.values()], {given: variables[name] for name, (given, _) in assigns.items()}
                )
            feeds = {f"{self._names[name]}:0": self._as_graph(name, value) for name, value in values.items()}
            return dict(zip(wanted, map(np.asarray, self._session.run(list(wanted), feeds)), strict=True))

    def _as_graph(self, name: str, value: np.ndarray) -> np.ndarray:
        """A value in the type that the graph has: the device may have stored fewer bits."""
        return value.astype(self._step.graph.as_graph_element(name).dtype.as_numpy_dtype, copy=False)


class LatestIsolatedNodes:
    """The isolated nodes of the step that is looked at, the same for all runs. Those of other graphs are let go: what TensorFlow
    keeps of a copy and its programs may be as much as the tensors of a step.
    """

    def __init__(self) -> None:
        self._graph: StepGraph | None = None
        self._made: IsolatedNodes | None = None

    def of(self, graph: StepGraph) -> IsolatedNodes:
        """The isolated nodes of a step graph."""
        if self._made is None or graph is not self._graph:
            if self._made is not None:
                self._made.close()
            self._graph, self._made = graph, IsolatedNodes(graph)
        return self._made
