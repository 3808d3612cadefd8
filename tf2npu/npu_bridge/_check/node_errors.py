"""The errors of each node of a run: how far it is from the original's, and what of that is its own."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from npu_bridge._check.distances import distance
from npu_bridge._check.isolated_nodes import IsolatedNodes
from npu_bridge._check.nudged_values import nudged
from npu_bridge._check.step_graph import StepGraph
from npu_bridge._log import once
from tensorflow.python.framework import errors_impl

AMPLIFIES = 10.0
"""Error of a node's result over that of its inputs from which on it is called an amplifier."""


@dataclass
class NodeError:
    """error: distance from the original's tensor, None where that has none.  own: of what it makes of its own inputs, None where
    that is not known.  rounding: how far its result moves when its inputs are rounded otherwise.  step: of the largest own error.
    inputs: the largest error of those inputs that are known.
    """

    error: float | None = None
    own: float | None = None
    rounding: float = 0.0
    inputs: float = 0.0
    step: int = 0

    @property
    def amplification(self) -> float | None:
        return self.error / self.inputs if self.error is not None and 0 < self.inputs < math.inf else None


@dataclass
class OwnErrors:
    """Isolated nodes of one run, made at its first step.  epsilon: of the type that it rounds to."""

    epsilon: float
    suspicious: float
    _isolated: dict[Hashable, IsolatedNodes] = field(default_factory=dict)

    def add(
        self, graph: StepGraph, errors: dict[str, NodeError], step: int, made: Mapping[str, np.ndarray],
        variables: Mapping[str, np.ndarray], given: Mapping[str, np.ndarray],
    ) -> None:  # fmt: skip
        """Note the own errors of a step.

        made: tensors that are fed where they are cut, and compared with what TensorFlow computes there.  given: sources, and
        what variables showed.
        """
        nodes = self._nodes(graph, made, given)
        values = {**given, **{name: value for name, value in made.items() if name not in given}}
        for part in nodes.parts(values):
            try:
                computed = nodes.compute(part, values, variables)
                own = {name: distance(made[name], value) for name, value in computed.items()}
                rounding = self._rounding(nodes, values, variables, computed, own)
            except errors_impl.OpError as error:
                once(f"check: nodes cannot be computed alone, so their own errors are not known: {_line(error)}")
                return
            for name, value in own.items():
                found = errors.setdefault(name, NodeError())
                if found.own is None or value > found.own:
                    found.own, found.step = value, step
                    found.rounding = rounding.get(name, 0.0)

    def _nodes(self, graph: StepGraph, made: Mapping[str, np.ndarray], given: Mapping[str, np.ndarray]) -> IsolatedNodes:
        key = graph, frozenset(made)
        if key not in self._isolated:
            self._isolated[key] = IsolatedNodes(graph, [name for name in graph.tensors if name in made], list(given))
        return self._isolated[key]

    def _rounding(
        self, nodes: IsolatedNodes, values: Mapping[str, np.ndarray], variables: Mapping[str, np.ndarray],
        computed: Mapping[str, np.ndarray], own: Mapping[str, float],
    ) -> dict[str, float]:  # fmt: skip
        """Only where some node is suspicious: it costs another run."""
        if max(own.values(), default=0.0) <= self.suspicious:
            return {}
        moved = nodes.compute(list(computed), nudged(values, self.epsilon), nudged(variables, self.epsilon))
        return {name: distance(value, computed[name]) for name, value in moved.items()}


def _line(error: errors_impl.OpError) -> str:
    return str(error.message).splitlines()[0]


def add_errors(
    errors: dict[str, NodeError], graph: StepGraph, made: Mapping[str, np.ndarray], reference: Mapping[str, np.ndarray],
    names: Sequence[str],
) -> None:  # fmt: skip
    """Note how far the tensors of a step are from the original's, and the largest error among each one's inputs."""
    apart = {name: distance(made[name], reference[name]) for name in names}
    for name in names:
        found = errors.setdefault(name, NodeError())
        if found.error is None or apart[name] > found.error:
            found.error = apart[name]
            inputs = (tensor.name for tensor in graph.graph.as_graph_element(name).op.inputs)
            found.inputs = max((apart[one] for one in inputs if one in apart), default=0.0)
