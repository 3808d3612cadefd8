"""The pass: a function that changes a graph in place and returns the number of changes.

`npu_runtime.compiler.pipeline` has the list of all passes, with what each needs and why it stands where it stands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from npu_runtime.graph.ir import Graph

PassFunction = Callable[[Graph], int]


@dataclass(frozen=True)
class Pass:
    """name: of the function, for messages and dumps.  run: the function."""

    name: str
    run: PassFunction


def graph_pass(function: PassFunction) -> Pass:
    """Make a function a Pass of its name."""
    return Pass(function.__name__, function)
