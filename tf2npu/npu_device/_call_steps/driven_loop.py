"""Functions with a loop over an iterator, whose operations eager code does: each turn is a call of the body, or of its branch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from npu_device._call_steps.host_operations import eagerly, is_handle
from tensorflow.python.eager import context

from npu_runtime.importers.tensorflow.lower_if import IFS
from npu_runtime.importers.tensorflow.lower_while import WHILES

Call = Callable[[Any, Sequence[Any]], list[Any] | None]
"""call(func_graph, arguments): the results of a call that is a step, None for one that is none."""


def call_in_turns(func_graph: Any, arguments: Sequence[Any], call: Call) -> list[Any]:
    """The results of a function, each of whose operations eager code does."""
    values = {tensor.name: value for tensor, value in zip(func_graph.inputs, arguments, strict=True)}
    inputs = {tensor.op.name for tensor in func_graph.inputs}
    for operation in func_graph.get_operations():
        if operation.name not in inputs and operation.type != "NoOp":
            given = [values[tensor.name] for tensor in operation.inputs]
            results = _results(operation, given, call)
            values.update(zip([tensor.name for tensor in operation.outputs], results, strict=True))
    return [values[tensor.name] for tensor in func_graph.outputs]


def _results(operation: Any, values: list[Any], call: Call) -> list[Any]:
    """The results of one operation.

    Source: AutoGraph's loop over an iterator asks in its body whether there was an element, and has the rest in a branch.
    """
    if any(map(is_handle, operation.inputs)):
        if operation.type in WHILES:
            return _turns(operation, values, call)
        if operation.type in IFS:
            side = "then_branch" if bool(values[0].numpy()) else "else_branch"
            return _called(_function(operation, side), values[1:], call)
    return eagerly(operation, values)


def _turns(operation: Any, values: list[Any], call: Call) -> list[Any]:
    condition, body = _function(operation, "cond"), _function(operation, "body")
    while bool(_plain(condition, values)[0].numpy()):
        values = _called(body, values, call)
    return values


def _function(operation: Any, attribute: str) -> Any:
    return operation.graph._get_function(operation.get_attr(attribute).name)


def _called(function: Any, values: Sequence[Any], call: Call) -> list[Any]:
    results = call(function.graph, values)
    return _plain(function, values) if results is None else results


def _plain(function: Any, values: Sequence[Any]) -> list[Any]:
    return list(context.context().call_function(function.name, list(values), len(function.graph.outputs)))
