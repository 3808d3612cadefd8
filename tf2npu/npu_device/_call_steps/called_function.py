"""One function, called with one set of variables, whose calls are runs of a session."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from npu_bridge._check import variable_values
from npu_bridge._check.session_hooks import run_plain
from npu_bridge._check.step_graph import Asked, Variable, written_by
from npu_bridge._training_requests import executed
from npu_device._call_steps import host_operations
from npu_device._call_steps.call_graph import CallGraph, EagerVariable, access_of
from tensorflow.python.framework import constant_op, errors_impl
from tensorflow.python.ops import gen_resource_variable_ops

from npu_runtime.analysis.training_updates import is_trained
from npu_runtime.graph.ops import SOURCES, STRUCTURAL, VARIABLES

_HANDS_ON = SOURCES | VARIABLES | STRUCTURAL | {"Placeholder", "ReadVariableOp", "Identity", "IdentityN"}
"""Operations that compute nothing."""
LOOP = "it changes variables in a loop over an iterator"
"""Reason of a function whose loop's turns are steps."""
Take = Callable[[Any, Asked, Mapping[str, np.ndarray]], list[Any]]
"""take(session, asked, feeds): makes the step, and gives what was asked for."""


class CalledFunction:
    """func_graph, variables: as a CallGraph is given them.

    computes: whether calls do more than to hand on.  trains: whether they change trainable variables.  why_not: the reason for
    which they cannot be runs of a session, "" for none.
    """

    def __init__(self, func_graph: Any, variables: Sequence[EagerVariable | None]) -> None:
        self.call_graph = CallGraph(func_graph, variables)
        self._asked = self.call_graph.asked()
        self._types = [tensor.dtype for tensor in func_graph.outputs]
        self._variables: list[Variable] = [access_of(name) for name in dict.fromkeys(self.call_graph.nodes.values())]
        asked, graph = self._asked, self.call_graph.graph
        operations = executed(graph, asked.fetches, asked.targets, asked.feeds)
        self.computes = any(one.type not in _HANDS_ON for one in operations)
        self.trains = self._trains(operations)
        self.why_not = self._why_not()

    def _trains(self, operations: Sequence[Any]) -> bool:
        type_of = self.call_graph.type_of
        trainable = {
            f"{name}:0" for name in self.call_graph.trainable if not type_of(name).is_integer
        }  # counts of epochs are, too
        changing = [one.type for one in operations if any(tensor.name in trainable for tensor in written_by(one))]
        return is_trained(changing, (one.name for one in operations))

    def _why_not(self) -> str:
        graph = self.call_graph
        variables = {f"{name}:0" for name in graph.nodes.values()}
        known = {*graph.handles.values(), *variables}
        if any(host_operations.is_handle(graph.graph.get_tensor_by_name(name)) and name not in known for name in graph.outputs):
            return "it returns what is no array"
        if any(tensor.name in variables for operation in graph.sources for tensor in operation.inputs):
            return LOOP
        return ""

    def call(self, arguments: Sequence[Any], take: Take) -> list[Any]:
        """One call.  arguments: eager tensors.  Returns: eager tensors."""
        graph = self.call_graph
        variables = {name: arguments[i] for i, name in graph.nodes.items()}
        handles = {name: arguments[i] for i, name in graph.handles.items()}
        feeds = {name: np.asarray(arguments[i].numpy()) for i, name in graph.feeds.items()}
        before = self._bring_in(variables)
        host_operations.run(graph.sources, handles, feeds, lambda name: self._value(name, feeds))
        values = dict(zip(self._asked.fetches, take(graph.session, self._asked, feeds), strict=True))
        self._bring_out(variables, before)
        known = {**feeds, **values, **handles, **{f"{name}:0": handle for name, handle in variables.items()}}
        pairs = zip(graph.outputs, self._types, strict=True)
        return [_eager(known[name], dtype) for name, dtype in pairs]

    def _value(self, tensor: str, feeds: Mapping[str, np.ndarray]) -> Any:
        return run_plain(self.call_graph.session, Asked((tensor,), (), ()), feeds)[0]

    def _bring_in(self, handles: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """Give the session the values that the variables have, and return them."""
        values: dict[str, np.ndarray] = {}
        for name, handle in handles.items():
            try:
                values[name] = gen_resource_variable_ops.read_variable_op(handle, self.call_graph.type_of(name)).numpy()
            except errors_impl.FailedPreconditionError:
                continue  # it has no value yet
        variable_values.write(self.call_graph.session, self._variables, values)
        return values

    def _bring_out(self, handles: Mapping[str, Any], before: Mapping[str, np.ndarray]) -> None:
        """Give the variables the values that the session has, where they are others."""
        for name, value in variable_values.read(self.call_graph.session, self._variables).items():
            if name not in before or not np.array_equal(value, before[name]):
                tensor = constant_op.constant(value, self.call_graph.type_of(name))
                gen_resource_variable_ops.assign_variable_op(handles[name], tensor)


def _eager(value: Any, dtype: Any) -> Any:
    return value if host_operations.is_handle_type(dtype) else constant_op.constant(value, dtype)
