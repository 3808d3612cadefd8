"""Equal draws in every run of a check: what a script seeds stays, and what it does not seed gets the same seeds each time."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from tensorflow.python.eager import context
from tensorflow.python.framework import ops, random_seed

SEED = 20210
"""Any number serves, as long as each run has the same."""
_counts: list[tuple[Any, list[int]]] = []
"""Number of the last operation of each graph that got a seed of ours. The graphs stay alive: the process ends after some
steps."""


def install() -> None:
    """Seed Python and numpy, and give those operations of TensorFlow seeds for which the script has none."""
    random.seed(SEED)
    np.random.seed(SEED)
    original = random_seed.get_seed

    def get_seed(op_seed: int | None) -> Any:
        if op_seed is not None or context.executing_eagerly() or ops.get_default_graph().seed is not None:
            return original(op_seed)  # which counts the operations of a graph
        return random_seed.DEFAULT_GRAPH_SEED, _next(ops.get_default_graph())

    random_seed.get_seed = get_seed


def _next(graph: Any) -> int:
    """The number of a draw in its graph, from 0."""
    count = next((count for known, count in _counts if known is graph), None)
    if count is None:
        count = [-1]
        _counts.append((graph, count))
    count[0] += 1
    return count[0]
