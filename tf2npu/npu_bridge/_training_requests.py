"""The operations that a run executes, and whether they train."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from npu_runtime.analysis.training_updates import CHANGES, is_addition_that_trains, is_training_update


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
    if any(is_training_update(operation.type) for operation in operations):
        return True
    changes: dict[str, list[Any]] = {}
    for operation in operations:
        if operation.type in CHANGES:
            changes.setdefault(operation.inputs[0].op.name, []).append(operation)
    return any(
        is_addition_that_trains(operation.type, _sources(operation, changes))
        for name in changes
        if name in trainable
        for operation in changes[name]
    )


def _sources(operation: Any, changes: Mapping[str, Sequence[Any]]) -> Iterator[tuple[str, str]]:
    """Names and types of all operations that give what one adds to a variable.

    changes: what changes each variable, by its name. Who reads the variable gets what that gives: moments are such.
    """
    seen: set[str] = set()
    waiting = [tensor.op for tensor in operation.inputs[1:]]
    while waiting:
        one = waiting.pop()
        if one.name not in seen:
            seen.add(one.name)
            yield one.name, one.type
            waiting += [tensor.op for tensor in one.inputs]
            waiting += [tensor.op for change in changes.get(one.name, ()) for tensor in change.inputs[1:]]
