"""The tensors that GradientTape differentiates inside of functions: the loss is one of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from npu_bridge._check import gradient_roots
from npu_device._call_steps.call_graph import CallGraph
from tensorflow.python.eager import backprop
from tensorflow.python.util import nest

_noted: list[tuple[Any, str, list[str]]] = []
"""A graph, and the names there of a tensor and of its gradients. The graphs stay: the process ends after some steps."""


def install() -> None:
    """Note from now on of which tensors of functions gradients are asked for."""
    original = backprop.GradientTape.gradient

    def gradient(self: Any, target: Any, sources: Any, *rest: Any, **named: Any) -> Any:
        found = original(self, target, sources, *rest, **named)
        gradients = [name for one in nest.flatten(found) for name in _tensors(one)]
        _noted.extend((y.graph, y.name, gradients) for y in nest.flatten(target) if hasattr(y, "graph"))
        return found

    backprop.GradientTape.gradient = gradient


def _tensors(gradient: Any) -> Iterator[str]:
    """One for a tensor, one for the values of a gradient of some rows, none for None."""
    tensor = getattr(gradient, "values", gradient)
    if hasattr(tensor, "graph"):
        yield tensor.name


def adopt_roots(call_graph: CallGraph) -> None:
    """Note on the graph of calls what was differentiated in the functions that it was made of."""
    for graph, name, gradients in _noted:
        here = call_graph.tensors.get((id(graph), name))
        if here is not None:
            made = (call_graph.tensors.get((id(graph), one), one).partition(":")[0] for one in gradients)
            gradient_roots.note(call_graph.graph, gradient_roots.Root(here, frozenset(made)))
