"""The operations that a run executes, and whether they train."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from npu_runtime.analysis.training_updates import is_addition_that_trains, is_training_update


def executed(graph: Any, fetches: Sequence[str], targets: Sequence[str], feeds: Sequence[str]) -> list[Any]:
    """The operations that a run executes, which asks for these names of a tf.Graph."""
    fed = set(feeds)
    work = [graph.as_graph_element(name).op for name in fetches if name not in fed]
    work += [graph.get_operation_by_name(name) for name in targets]
    found: dict[str, Any] = {}
    while work:
        operation = work.pop()
        if operation.name not in found:
            found[operation.name] = operation
            work += [tensor.op for tensor in operation.inputs if tensor.name not in fed]
            work += operation.control_inputs
    return list(found.values())


def trains(graph: Any, operations: Sequence[Any]) -> bool:
    """Whether operations of a tf.Graph update variables as an optimizer does, or add what comes of data to a trainable one."""
    trainable = {variable.op.name for variable in graph.get_collection("trainable_variables")}
    return any(_updates(operation, trainable) for operation in operations)


def _updates(operation: Any, trainable: set[str]) -> bool:
    """Whether an operation trains.  trainable: names of the operations of trainable variables."""
    if is_training_update(operation.type):
        return True
    is_change = bool(operation.inputs) and operation.inputs[0].op.name in trainable
    return is_change and is_addition_that_trains(operation.type, _sources(operation))


def _sources(operation: Any) -> Iterator[tuple[str, str]]:
    """Names and types of all operations that give what one adds to a variable."""
    seen: set[str] = set()
    waiting = [tensor.op for tensor in operation.inputs[1:]]
    while waiting:
        one = waiting.pop()
        if one.name not in seen:
            seen.add(one.name)
            yield one.name, one.type
            waiting += [tensor.op for tensor in one.inputs]
