"""Which tensors a script differentiates: the loss is one of them."""

from __future__ import annotations

from typing import Any

from tensorflow.python.ops import gradients_util

_roots: list[tuple[Any, str]] = []
"""Each graph with the name of a tensor that is differentiated. The graphs stay: the process ends after some steps."""


def install() -> None:
    """Note on each graph, from now on, of which tensors gradients are asked for."""
    original = gradients_util._GradientsHelper

    def noted(ys: Any, *arguments: Any, **named: Any) -> Any:
        for y in ys if isinstance(ys, list | tuple) else [ys]:
            if hasattr(y, "graph"):
                _roots.append((y.graph, y.name))
        return original(ys, *arguments, **named)

    gradients_util._GradientsHelper = noted


def roots_of(graph: Any) -> list[str]:
    """Names of the tensors of a tf.Graph that gradients were asked of, in order."""
    return [name for noted, name in _roots if noted is graph]
