"""Equal draws in every run of a check: what a script seeds stays, and what it does not seed is drawn as in the original's run."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
from tensorflow.python.eager import context
from tensorflow.python.framework import ops, random_seed

_SEED = 20210
"""Any number serves, as long as each run has the same."""


class Draws:
    """The seeds that operations got without asking for one, by graph in the order of their first draw."""

    def __init__(self, recorded: list[list[int]] | None = None) -> None:
        self.made: list[list[int]] = []
        self._recorded = recorded or []
        self._graphs: list[Any] = []
        self._original: Callable[[Any], Any] | None = None

    def install(self) -> None:
        """Seed Python and numpy, and give TensorFlow's operations without a seed theirs."""
        random.seed(_SEED)
        np.random.seed(_SEED)
        self._original = random_seed.get_seed
        random_seed.get_seed = self.get_seed

    def get_seed(self, op_seed: int | None) -> Any:
        """As TensorFlow's own, but that a second run draws what the first did, though its graph has more or fewer nodes.

        Source: random_seed.get_seed counts the nodes of the graph.
        """
        assert self._original is not None
        if op_seed is not None or context.executing_eagerly():
            return self._original(op_seed)
        graph = ops.get_default_graph()
        graph_seed = random_seed.DEFAULT_GRAPH_SEED if graph.seed is None else graph.seed
        return graph_seed, self._next(graph)

    def _next(self, graph: Any) -> int:
        number = next((i for i, known in enumerate(self._graphs) if known is graph), len(self._graphs))
        if number == len(self._graphs):
            self._graphs.append(graph)
            self.made.append([])
        drawn, known = self.made[number], self._recorded[number] if number < len(self._recorded) else []
        drawn.append(known[len(drawn)] if len(drawn) < len(known) else int(graph._last_id))
        return drawn[-1]
