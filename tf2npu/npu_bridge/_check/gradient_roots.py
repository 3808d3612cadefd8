"""The tensors that a script differentiates: the loss is one of them."""

from __future__ import annotations

from typing import Any, NamedTuple

from tensorflow.python.ops import gradients_util


class Root(NamedTuple):
    """name: of the tensor that is differentiated.  gradients: names of the operations that give its gradients."""

    name: str
    gradients: frozenset[str]


_roots: list[tuple[Any, Root]] = []
"""Each graph with what is differentiated in it. The graphs stay: the process ends after some steps."""


def install() -> None:
    """Note on each graph, from now on, of which tensors gradients are asked for."""
    original = gradients_util._GradientsHelper

    def noted(ys: Any, *arguments: Any, **named: Any) -> Any:
        found = original(ys, *arguments, **named)
        gradients = frozenset(name for gradient in found for name in _operations(gradient))
        for y in ys if isinstance(ys, list | tuple) else [ys]:
            if hasattr(y, "graph"):
                note(y.graph, Root(y.name, gradients))
        return found

    gradients_util._GradientsHelper = noted


def note(graph: Any, root: Root) -> None:
    """Note a tensor of a tf.Graph that is differentiated."""
    _roots.append((graph, root))


def _operations(gradient: Any) -> list[str]:
    """One for a tensor, two for a gradient of some rows, none for None."""
    parts = (gradient, getattr(gradient, "values", None))
    return [part.op.name for part in parts if getattr(part, "op", None) is not None]


def roots_of(graph: Any) -> list[Root]:
    """The tensors of a tf.Graph of which gradients were asked for, in order."""
    return [root for noted, root in _roots if noted is graph]
