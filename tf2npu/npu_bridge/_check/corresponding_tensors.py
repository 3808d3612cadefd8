"""Tensors of the migrated script's graph that the original computes, too, under whatever name.

TensorFlow numbers the nodes that nobody names, and builds fewer of them where shapes are known: `gradients/AddN_2` of one graph
may be `gradients/AddN_3` of the other. So a tensor corresponds to that of its name where its node reads tensors of the same
names, too, and to one with its values elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from npu_bridge._check.distances import distance, norm

SAME = 1e-5
"""Relative distance of tensors that are the same: equal kernels on equal inputs are 1e-7 apart where a graph is written
otherwise, and sums over whole layers some ten times that."""
SUMS = frozenset(("Sum", "Mean", "BiasAddGrad", "AddN", "Add", "AddV2", "Sub"))
"""Ops that add up their inputs: where these cancel, what is left is rounding."""
_FEW = 64
"""Elements of a tensor whose values say little: shapes, axes, rates and counts occur many times."""


class CorrespondingTensors:
    """original: tensors of one of its steps, by name.  nodes: op, place and names of inputs of its operations, by name."""

    def __init__(self, original: Mapping[str, np.ndarray], nodes: Mapping[str, Sequence[str]]) -> None:
        self._original, self._nodes = original, nodes
        self._by_size: dict[int, list[tuple[float, str]]] = {}
        self._by_form: dict[tuple[tuple[int, ...], np.dtype], list[str]] = {}
        for name, value in original.items():
            if value.size > _FEW and value.dtype.kind != "b":
                self._by_size.setdefault(value.size, []).append((norm(value), name))
            else:
                self._by_form.setdefault((value.shape, value.dtype), []).append(name)

    def error(self, operation: Any, name: str, value: np.ndarray) -> float | None:
        """Distance from the original's: the one of this name, or one of these values; None where there is neither.

        operation: of the tensor, a tf.Operation.
        """
        theirs, node = self._original.get(name), self._nodes.get(operation.name)
        is_named = theirs is not None and node is not None and node[0] == operation.type
        error = distance(value, theirs) if theirs is not None and is_named else None
        is_same = is_named and node is not None and list(node[2:]) == [tensor.name for tensor in operation.inputs]
        if is_same or (error is not None and error <= SAME):
            return error
        found = self._found(value) if value.size > _FEW and value.dtype.kind != "b" else self._small(value, is_named)
        return found if found is not None else error

    def _found(self, value: np.ndarray) -> float | None:
        ours = norm(value)
        for size, name in self._by_size.get(value.size, ()):
            if abs(size - ours) <= SAME * ours:
                apart = distance(value.ravel(), self._original[name].ravel())
                if apart <= SAME:
                    return apart
        return None

    def _small(self, value: np.ndarray, is_named: bool) -> float | None:
        """The distance of a small tensor that has no namesake to one with its values; None where there is none."""
        if is_named:
            return None
        alike = self._by_form.get((value.shape, value.dtype), ())
        return next((apart for apart in (distance(value, self._original[one]) for one in alike) if apart <= SAME), None)


def is_rounding(apart: float, terms: Sequence[np.ndarray], n_results: int) -> bool:
    """Whether a difference is what rounding the terms of a sum does.  apart: its norm.  n_results: numbers that the sum has.

    Of n terms each, whose norm together is t, a result's norm is t * sqrt(n) at most, and the rounding that share of it.
    """
    floats = [term for term in terms if term.dtype.kind not in "iub"]
    n_terms = sum(term.size for term in floats) / max(n_results, 1)
    return apart <= SAME * max(n_terms, 1.0) ** 0.5 * sum(map(norm, floats))
