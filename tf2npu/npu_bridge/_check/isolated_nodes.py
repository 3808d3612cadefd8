"""A copy of a step's graph that is cut at tensors: TensorFlow computes each of them from given values of those before it.

So each node is seen by itself: what it makes of a run's own inputs, whatever went wrong before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf
from npu_bridge._check.session_hooks import for_the_cpu, passing
from npu_bridge._check.step_graph import GENERATORS, StepGraph, Variable
from tensorflow.core.framework import graph_pb2
from tensorflow.python.ops import gen_resource_variable_ops, state_ops

_OUTSIDE = ("LookupTable", "Queue", "PyFunc", "EagerPyFunc", *GENERATORS)
"""Beginnings of ops that look at what the copy does not have, tables and queues, that run the script's code once more, or that
draw one after another from the state of a generator, whose order the copy does not keep: their results are given, too."""

PART_BYTES = 64 << 20
"""Bytes of results at a time: those of a large model would be as much memory as its step takes."""


class IsolatedNodes:
    """step: of a run.  cut: tensors that are given and computed.  given: those that are only given, as sources are."""

    def __init__(self, step: StepGraph, cut: Iterable[str], given: Iterable[str]) -> None:
        self._step = step
        cut, sources = list(cut), set(given)
        outside = set(step.seen_late) | {
            tensor.name for operation in step.operations if operation.type.startswith(_OUTSIDE) for tensor in operation.outputs
        }
        self.computed = [name for name in cut if name not in outside and name not in sources]
        self._given = list(dict.fromkeys([*self.computed, *given, *(name for name in cut if name in outside)]))
        self._names = {name: f"tf2npu_given/{i}" for i, name in enumerate(self._given)}
        self._graph = tf.Graph()
        with self._graph.as_default():
            tf.graph_util.import_graph_def(self._definition(), name="")
            self._assigns = {variable.name: self._assign(variable) for variable in step.variables}
        self._session = tf.Session(graph=self._graph, config=for_the_cpu(None))

    def _definition(self) -> graph_pb2.GraphDef:
        definition = graph_pb2.GraphDef()
        whole = self._step.graph.as_graph_def()
        definition.versions.CopyFrom(whole.versions)
        definition.library.CopyFrom(whole.library)
        for name in self._given:
            tensor = self._step.graph.as_graph_element(name)
            node = definition.node.add(name=self._names[name], op="Placeholder")
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
        """The cut tensors that `values` has, in parts of about PART_BYTES: so much is computed at a time."""
        part, n_bytes = [], 0
        for name in self.computed:
            if name not in values:
                continue
            if part and n_bytes + values[name].nbytes > PART_BYTES:
                yield part
                part, n_bytes = [], 0
            part.append(name)
            n_bytes += values[name].nbytes
        if part:
            yield part

    def compute(
        self, wanted: list[str], values: Mapping[str, np.ndarray], variables: Mapping[str, np.ndarray]
    ) -> dict[str, np.ndarray]:
        """Some of the cut tensors, computed of the given values.

        values: of all tensors that are cut or given; what is missing is not fed, and what needs it not computed.
        Raises: tf.errors.OpError.
        """
        with passing():
            pairs = [(self._assigns[name], value) for name, value in variables.items() if name in self._assigns]
            self._session.run([assign for (_, assign), _ in pairs], {given: value for (given, _), value in pairs})
            feeds = {f"{self._names[name]}:0": self._as_graph(name, values[name]) for name in self._given if name in values}
            return dict(zip(wanted, map(np.asarray, self._session.run(wanted, feeds)), strict=True))

    def _as_graph(self, name: str, value: np.ndarray) -> np.ndarray:
        """A value in the type that the graph has: the device may have stored fewer bits."""
        return value.astype(self._step.graph.as_graph_element(name).dtype.as_numpy_dtype, copy=False)
