"""The graph that a function was traced into, beside the one that is made of its definition again.

A definition has neither lines of the script nor shapes that TensorFlow knew of values in lists. A gradient of a loop adds to the
graph of the loop's body, so the graph may have more operations than the definition; those of the same name are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

TracedGraph = Callable[[str], Any]
"""traced_graph(function): its FuncGraph, None where there is none."""
_TRACED = "_npu_traced_operations"


def refine_shapes(body: Any, traced: Any) -> None:
    """Give the tensors of a body the shapes that they had when the function was traced, and note what they were made of."""
    known = {operation.name: operation for operation in traced.get_operations()}
    setattr(body, _TRACED, known)
    for operation in body.get_operations():
        source = known.get(operation.name)
        if source is not None and source.type == operation.type:
            for tensor, told in zip(operation.outputs, source.outputs, strict=False):
                if not tensor.shape.is_fully_defined() and tensor.shape.is_compatible_with(told.shape):
                    tensor.set_shape(told.shape)


def traced_by(body: Any) -> Mapping[str, Any]:
    """The operations that a body was made of, by their names; none where they are not known."""
    found: Mapping[str, Any] = getattr(body, _TRACED, {})
    return found
