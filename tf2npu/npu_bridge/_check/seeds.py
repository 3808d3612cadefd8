"""Equal draws in every run of a check: what a script seeds stays, and what it does not seed is drawn as in the original's run."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from tensorflow.python.eager import context
from tensorflow.python.framework import ops, random_seed

_SEED = 20210
"""Any number serves, as long as each run has the same."""


class Draws:
    """Counts the operations of each graph that ask for no seed."""

    def __init__(self) -> None:
        self._counts: list[tuple[Any, Iterator[int]]] = []
        self._original: Callable[[Any], Any] | None = None

    def install(self) -> None:
        """Seed Python and numpy, and give TensorFlow's operations without a seed theirs."""
        random.seed(_SEED)
        np.random.seed(_SEED)
        self._original = random_seed.get_seed
        random_seed.get_seed = self.get_seed

    def get_seed(self, op_seed: int | None) -> Any:
        """As TensorFlow's own; where neither operation nor graph has a seed, as if the graph had TensorFlow's default one.

        Source: random_seed.get_seed counts these operations, too, where the graph has a seed.
        """
        assert self._original is not None
        graph = ops.get_default_graph()
        if op_seed is not None or context.executing_eagerly() or graph.seed is not None:
            return self._original(op_seed)
        return random_seed.DEFAULT_GRAPH_SEED, self._next(graph)

    def _next(self, graph: Any) -> int:
        counter = next((counter for known, counter in self._counts if known is graph), None)
        if counter is None:
            counter = itertools.count()
            self._counts.append((graph, counter))
        return next(counter)
