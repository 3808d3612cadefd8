"""The lines of the user's code that decide the shape of an input: a placeholder, or what puts a pipeline's elements together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from npu_runtime.importers.tensorflow.source_lines import users_line

_MAKES_ITERATOR = "MakeIterator"
_ONE_SHOT = "OneShotIterator"
"""Type of an iterator whose pipeline stands in a function, with the names that its operations have in the graph."""


def lines_of_input(tf_graph: Any, name: str) -> tuple[str, ...]:
    """ "file:line" of each operation that decides, without those that no line of the user's has made.

    name: of a tensor, `x:0`.  Of an iterator's element these are the operations of the datasets behind it whose names say
    that they make batches, and the call that asks for the element.
    """
    try:
        operation = tf_graph.get_operation_by_name(name.partition(":")[0])
    except (KeyError, ValueError):
        return ()
    found = [operation, *_batching(tf_graph, operation)]
    return tuple(dict.fromkeys(line for one in found if (line := users_line(one))))


def _batching(tf_graph: Any, operation: Any) -> Iterator[Any]:
    """The operations behind an iterator's element that make batches."""
    handles = {source.op for source in operation.inputs if source.dtype.name == "resource"}
    if not handles:
        return
    pending = [
        one.inputs[0].op for one in tf_graph.get_operations() if one.type == _MAKES_ITERATOR and one.inputs[1].op in handles
    ]
    pending += [one for handle in handles for one in _of_one_shot(tf_graph, handle)]
    seen = set()
    while pending:
        one = pending.pop()
        if one in seen:
            continue
        seen.add(one)
        if "Batch" in one.type or "Window" in one.type:
            yield one
        pending += [source.op for source in one.inputs if source.dtype.name == "variant"]


def _of_one_shot(tf_graph: Any, handle: Any) -> list[Any]:
    """The graph's own operations that stand in the function of a one-shot iterator."""
    if handle.type != _ONE_SHOT:
        return []
    function = tf_graph._get_function(handle.get_attr("dataset_factory").name)
    definition: Any = getattr(function, "cached_definition", None) or function.definition
    names = [node.name for node in definition.node_def]
    known = {one.name: one for one in tf_graph.get_operations()}
    return [known[name] for name in names if name in known]
