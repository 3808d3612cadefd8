"""What a pass is, and the order in which passes run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from npu_runtime.graph.ir import Graph
from npu_runtime.graph.verify import verify

PassFunction = Callable[[Graph], int]


@dataclass(frozen=True)
class Pass:
    """A function that changes a graph in place and returns the number of changes, with the facts it needs and makes."""

    name: str
    run: PassFunction
    requires: frozenset[str]
    provides: frozenset[str]
    breaks: frozenset[str]


def graph_pass(
    *, requires: Sequence[str] = (), provides: Sequence[str] = (), breaks: Sequence[str] = ()
) -> Callable[[PassFunction], Pass]:
    """Make a function a Pass. Facts are plain names, such as "shapes" or "constants"."""

    def make(function: PassFunction) -> Pass:
        return Pass(function.__name__, function, frozenset(requires), frozenset(provides), frozenset(breaks))

    return make


def check_order(passes: Sequence[Pass], given: Sequence[str] = ()) -> None:
    """Raises: ValueError when a pass needs a fact that no pass before it provides or that one has broken."""
    facts = set(given)
    for one in passes:
        missing = one.requires - facts
        if missing:
            raise ValueError(f"pass {one.name} needs {sorted(missing)}, which no pass before it provides")
        facts = (facts - one.breaks) | one.provides


def run_passes(graph: Graph, passes: Sequence[Pass], check: bool = False) -> dict[str, int]:
    """Run all in order; changes by pass name.  check: verify the graph after each."""
    check_order(passes)
    changes = {}
    for one in passes:
        changes[one.name] = one.run(graph)
        if check:
            verify(graph)
    return changes
