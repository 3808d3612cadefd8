"""The errors of each node of a run: how far it is from the original's, and what of that is its own."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from npu_bridge._check.distances import distance
from npu_bridge._check.isolated_nodes import IsolatedNodes
from npu_bridge._check.nudged_values import nudged
from npu_bridge._check.step_graph import StepGraph
from npu_bridge._check.stored_steps import PartlyHeld
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
    """The own errors of one run's nodes.  epsilon: of the type that it rounds to.  suspicious: beyond it, rounding is asked."""

    epsilon: float
    suspicious: float

    def add(
        self, nodes: IsolatedNodes, errors: dict[str, NodeError], step: int, made: Mapping[str, np.ndarray],
        variables: Mapping[str, np.ndarray], given: Mapping[str, np.ndarray],
    ) -> None:  # fmt: skip
        """Note the own errors of a step.

        made: tensors that are fed where they are cut, and compared with what TensorFlow computes there.  given: sources, and
        what variables showed.
        """
        values = PartlyHeld(given, made, made)
        for part in nodes.parts(PartlyHeld({}, made, [name for name in made if name not in given])):
            try:
                self._add_part(nodes, errors, step, part, values, variables)
            except errors_impl.OpError as error:
                once(f"check: nodes cannot be computed alone, so their own errors are not known: {_line(error)}")
                return

    def _add_part(
        self, nodes: IsolatedNodes, errors: dict[str, NodeError], step: int, part: list[str],
        values: Mapping[str, np.ndarray], variables: Mapping[str, np.ndarray],
    ) -> None:  # fmt: skip
        computed = nodes.compute(part, *nodes.read_by(part, values, variables))
        own = {name: distance(values[name], value) for name, value in computed.items()}
        suspicious = [name for name in part if own[name] > self.suspicious]
        rounding: dict[str, float] = {}
        if suspicious:
            read = (nudged(one, self.epsilon) for one in nodes.read_by(suspicious, values, variables))
            moved = nodes.compute(suspicious, *read)
            rounding = {name: distance(value, computed[name]) for name, value in moved.items()}
        for name, value in own.items():
            found = errors.setdefault(name, NodeError())
            if found.own is None or value > found.own:
                found.own, found.step = value, step
                found.rounding = rounding.get(name, 0.0)


def _line(error: errors_impl.OpError) -> str:
    return str(error.message).splitlines()[0]


def add_errors(
    errors: dict[str, NodeError], graph: StepGraph, made: Mapping[str, np.ndarray], reference: Mapping[str, np.ndarray]
) -> None:  # fmt: skip
    """Note how far the tensors of a step are from the original's of the same shape, and the largest error among each one's
    inputs."""
    apart: dict[str, float] = {}
    for name in graph.tensors:
        theirs = reference[name] if name in made and name in reference else None
        if theirs is not None and theirs.shape == made[name].shape:
            apart[name] = distance(made[name], theirs)
    for name, error in apart.items():
        found = errors.setdefault(name, NodeError())
        if found.error is None or error > found.error:
            found.error = error
            inputs = (tensor.name for tensor in graph.graph.as_graph_element(name).op.inputs)
            found.inputs = max((apart[one] for one in inputs if one in apart), default=0.0)
