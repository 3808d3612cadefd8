"""Functions with a loop over an iterator, done one by one: each turn of such a loop is a call of its body."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from npu_device._call_steps.host_operations import eagerly, is_handle
from tensorflow.python.eager import context

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
            is_loop = operation.type in WHILES and any(map(is_handle, operation.inputs))
            results = _turns(operation, given, call) if is_loop else eagerly(operation, given)
            values.update(zip([tensor.name for tensor in operation.outputs], results, strict=True))
    return [values[tensor.name] for tensor in func_graph.outputs]


def _turns(operation: Any, values: list[Any], call: Call) -> list[Any]:
    condition, body = (operation.graph._get_function(operation.get_attr(name).name) for name in ("cond", "body"))
    while bool(_plain(condition, values)[0].numpy()):
        results = call(body.graph, values)
        values = _plain(body, values) if results is None else results
    return values


def _plain(function: Any, values: Sequence[Any]) -> list[Any]:
    return list(context.context().call_function(function.name, list(values), len(function.graph.outputs)))
