"""Whether a run agrees with the original, and where it first does not."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from npu_bridge._check.distances import distance
from npu_bridge._check.node_errors import AMPLIFIES, NodeError
from npu_bridge._check.stored_steps import StepValues

LARGEST_HALF = 65504.0
"""The largest number of fp16."""


@dataclass(frozen=True)
class Tolerances:
    """loss: relative.  update: of what a step changes a variable by.  own: of a node's result.  roundings: how many times what
    rounding its inputs does to a node's result is no error.  sure: a variable whose update rounding moves by more is not judged.
    """

    loss: float
    update: float
    own: float
    sure: float
    roundings: float = 32.0


OF_GRAPH_TYPES = Tolerances(1e-4, 1e-3, 1e-4, 1e-2)
"""TensorFlow is 1e-6 to 1e-5 from itself in the losses of one step, with other kernels and threads; see docs/accuracy.md."""
OF_16_BITS = Tolerances(1e-2, 0.5, 0.05, 0.1, 16.0)
"""fp16 has 11 bits, and a step adds up some hundred roundings: losses of networks that train well are within 0.5 %."""
SELF_DISTANCES = 10.0
"""A difference counts when it is more than this many times the difference between two runs of TensorFlow itself."""


@dataclass
class Yardstick:
    """The distance of TensorFlow from itself: of the loss, and of each variable's update; updates_16: where it begins with values
    that are rounded to 16 bits.  unlike: sources that give other values in a second run.
    """

    loss: float = 0.0
    updates: Mapping[str, float] = field(default_factory=dict)
    updates_16: Mapping[str, float] = field(default_factory=dict)
    unlike: frozenset[str] = frozenset()


class StepErrors(NamedTuple):
    """Errors of one step: of the loss, and of each variable's update."""

    loss: float
    updates: Mapping[str, float]

    def off(self, tolerances: Tolerances, yardstick: Yardstick) -> list[str]:
        """The results that are further from the original than allowed: "" for the loss, and names of variables."""
        found = [""] if self.loss > max(tolerances.loss, SELF_DISTANCES * yardstick.loss) else []
        known = yardstick.updates_16 if tolerances is OF_16_BITS else yardstick.updates
        for name, apart in self.updates.items():
            rounding = known.get(name, 0.0)
            if rounding < tolerances.sure and apart > max(tolerances.update, SELF_DISTANCES * rounding):
                found.append(name)
        return found


@dataclass
class RunErrors:
    """Errors of one run, over its steps.  updates: the largest distance of each variable's update; of integers none."""

    loss: list[float | None] = field(default_factory=list)
    loss_error: float = 0.0
    steps: list[StepErrors] = field(default_factory=list)
    updates: dict[str, float] = field(default_factory=dict)
    nodes: dict[str, NodeError] = field(default_factory=dict)

    def add_step(self, loss: float | None, original: StepValues, after: Mapping[str, np.ndarray]) -> None:
        """Note loss and variables of a step that began with the original's.  loss: None where it is not known."""
        self.loss.append(loss)
        theirs = original.loss_value
        found = StepErrors(0.0 if theirs is None or loss is None else _relative(loss, theirs), _updates(original, after))
        self.steps.append(found)
        self.loss_error = max(self.loss_error, found.loss)
        for name, apart in found.updates.items():
            self.updates[name] = max(self.updates.get(name, 0.0), apart)

    def off(self, tolerances: Tolerances, yardstick: Yardstick) -> list[str]:
        """The results that are further from the original than allowed: "" for the loss, and names of variables."""
        return StepErrors(self.loss_error, self.updates).off(tolerances, yardstick)

    def first_wrong(self, tolerances: Tolerances, yardstick: Yardstick) -> int:
        """The first step that is off; 0 where none is."""
        return next((number for number, step in enumerate(self.steps) if step.off(tolerances, yardstick)), 0)

    def update_error(self, yardstick: Yardstick) -> float:
        """The largest of those variables of which TensorFlow itself is sure."""
        return self.updates.get(self._least_sure(yardstick), 0.0)

    def update_tolerance(self, tolerances: Tolerances, yardstick: Yardstick) -> float:
        """The distance that the update of that variable may have."""
        known = yardstick.updates_16 if tolerances is OF_16_BITS else yardstick.updates
        return max(tolerances.update, SELF_DISTANCES * known.get(self._least_sure(yardstick), 0.0))

    def _least_sure(self, yardstick: Yardstick) -> str:
        """The variable that is furthest off, of those of which TensorFlow itself is sure."""
        sure = [name for name in self.updates if yardstick.updates.get(name, 0.0) < 1e-2]
        return max(sure, key=lambda name: self.updates[name], default="")


def _updates(original: StepValues, after: Mapping[str, np.ndarray]) -> dict[str, float]:
    """The distance of each float variable's update in a step from the original's; nothing is said of whole numbers.

    after: empty for a step that changes nothing.
    """
    found = {}
    for name, theirs in original.after.items() if after else ():
        before = original.before.get(name)
        if before is not None and theirs.dtype.kind == "f" and theirs.shape == before.shape:
            ours = after.get(name)
            is_alike = ours is not None and ours.shape == before.shape
            found[name] = distance(ours - before, theirs - before) if ours is not None and is_alike else math.inf
    return found


def _relative(one: float, other: float) -> float:
    if one == other or (math.isnan(one) and math.isnan(other)):
        return 0.0
    apart = abs(one - other) / abs(other) if other else math.inf
    return math.inf if math.isnan(apart) else apart


def is_significant(error: NodeError, tolerances: Tolerances) -> bool:
    """Whether a node computes something else than TensorFlow, and not only rounds otherwise."""
    own = error.own
    return own is not None and own > tolerances.own and own > tolerances.roundings * error.rounding


def what_of(error: NodeError, made: np.ndarray | None, original: np.ndarray | None, op: str) -> str:
    """The kind of error that a node's result shows: overflow, nan, underflow, absorbed, amplifies or own."""
    if made is not None and made.dtype.kind not in "iub":
        numbers = made.astype(np.float64)
        size = np.abs(original.astype(np.float64)) if original is not None and original.shape == made.shape else None
        is_half = made.dtype.itemsize == 2
        if np.isinf(numbers).any() or (is_half and size is not None and (size[np.isfinite(size)] > LARGEST_HALF).any()):
            return "overflow"
        if np.isnan(numbers).any():
            return "nan"
        if is_half and size is not None and np.mean((numbers == 0) & (size > 0)) > 0.5:
            return "underflow"
        if is_half and op in ("Add", "AddV2", "Sub", "AddN", "BiasAdd", "Sum", "Mean"):
            return "absorbed"
    amplification = error.amplification
    if amplification is not None and amplification > AMPLIFIES and (error.own or 0.0) < (error.error or 0.0) / AMPLIFIES:
        return "amplifies"
    return "own"


def as_json(value: float | None) -> Any:
    """A number as JSON has it; what it has not is a text."""
    if value is None or math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
