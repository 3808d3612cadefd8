"""The training steps of a PyTorch script beside those of the original: how far they are off, and what is off first."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from npu_formats.documents.check_record import What
from npu_formats.documents.training_steps import ParameterStep, TrainingStep
from npu_formats.documents.written_steps import as_json


@dataclass(frozen=True)
class Tolerances:
    """loss: relative.  update: norm of the difference over the norm, of gradients and updates.  start: of first values.

    sure: a parameter whose gradient is smaller than this share of the largest is not judged, as rounding makes it.
    """

    loss: float
    update: float
    start: float
    sure: float


OF_CPU = Tolerances(1e-6, 1e-5, 1e-5, 0.0)
"""The same kernels make the same numbers of the same inputs; the margin is for sums that a conversion writes in another order."""
OF_DEVICE = Tolerances(1e-4, 1e-3, 1e-3, 1e-6)
OF_HALF = Tolerances(1e-2, 0.5, 1e-3, 1e-2)
"""The figures for 16 bits of checks for TensorFlow; docs/accuracy.md has them."""


@dataclass(frozen=True)
class Difference:
    """The first thing that is off in a step.  node: its name.  error: relative.  original, here: a setting in both runs."""

    what: What
    node: str
    op: str
    step: int
    file: str
    line: int
    dtype: str = ""
    error: float | None = None
    original: str = ""
    here: str = ""

    def document(self) -> dict[str, Any]:
        """The difference as a record of a check has it."""
        return {**vars(self), "error": as_json(self.error)}


@dataclass
class Comparison:
    """updates, gradients: the largest error of each parameter that was judged, by its name."""

    loss_error: float = 0.0
    updates: dict[str, float] = field(default_factory=dict)
    gradients: dict[str, float] = field(default_factory=dict)
    first: Difference | None = None

    @property
    def update_error(self) -> float:
        return max(self.updates.values(), default=0.0)

    def n_agreeing(self, tolerances: Tolerances) -> int:
        """Parameters whose gradients and updates agree in every step."""
        errors = (max(error, self.gradients.get(name, 0.0)) for name, error in self.updates.items())
        return sum(1 for error in errors if error <= tolerances.update)


def compared(original: Sequence[TrainingStep], other: Sequence[TrainingStep], tolerances: Tolerances) -> Comparison:
    """The comparison of the steps that both have."""
    found = Comparison()
    seen: dict[str, tuple[ParameterStep, ParameterStep]] = {}
    for number, (theirs, ours) in enumerate(zip(original, other, strict=False)):
        step = _Step(number, theirs, ours, tolerances)
        found.loss_error = max(found.loss_error, step.loss_error)
        for name, error in step.errors(found.gradients):
            found.updates[name] = max(found.updates.get(name, 0.0), error)
        if found.first is None:
            found.first = next(step.differences(seen), None)
        seen |= {one.name: (one, other) for one, other in step.pairs()}
    return found


@dataclass
class _Step:
    number: int
    theirs: TrainingStep
    ours: TrainingStep
    tolerances: Tolerances

    @property
    def loss_error(self) -> float:
        theirs, ours = self.theirs.loss, self.ours.loss
        if theirs is None or ours is None:
            return 0.0 if theirs is ours else math.inf
        if theirs == ours or (math.isnan(theirs) and math.isnan(ours)):
            return 0.0
        return _share(abs(theirs - ours), abs(theirs))

    def pairs(self) -> list[tuple[ParameterStep, ParameterStep]]:
        """The parameters of both; those that have one name several times by their places."""
        ours: dict[str, list[ParameterStep]] = {}
        for parameter in self.ours.parameters:
            ours.setdefault(parameter.name, []).append(parameter)
        return [(one, ours[one.name].pop(0)) for one in self.theirs.parameters if ours.get(one.name)]

    def errors(self, gradients: dict[str, float]) -> Iterator[tuple[str, float]]:
        """The error of each parameter's update; those of gradients are put into `gradients`."""
        for theirs, ours in self._judged():
            gradients[theirs.name] = max(gradients.get(theirs.name, 0.0), _gradient_error(theirs, ours))
            yield theirs.name, _update_error(theirs, ours)

    def _judged(self) -> list[tuple[ParameterStep, ParameterStep]]:
        pairs = self.pairs()
        largest = max((_norm(one.gradient) for one, _ in pairs if one.gradient is not None), default=0.0)
        least = self.tolerances.sure * largest
        return [(one, other) for one, other in pairs if one.gradient is None or not _norm(one.gradient) < least]

    def differences(self, seen: Mapping[str, tuple[ParameterStep, ParameterStep]]) -> Iterator[Difference]:
        """All that is off, in the order in which a step makes it.  seen: parameters of earlier steps, in both runs."""
        yield from self._others()
        limits = self.tolerances
        for one, other in self.pairs():
            error = _distance(one.before, other.before) if one.name not in seen else _apart_since(seen[one.name], one, other)
            if error > limits.start:
                yield self._of_update("start", one, error)
        if self.loss_error > limits.loss:
            yield from self._modes()
            yield self._of_loss("forward", "loss", "", error=self.loss_error)
        for one, other in reversed(self._judged()):
            if (error := _gradient_error(one, other)) > limits.update:
                yield self._of_loss("gradient", one.name, "", dtype=one.dtype, error=error)
        yield from self._settings()
        for one, other in self._judged():
            if (error := _update_error(one, other)) > limits.update:
                yield self._of_update("update", one, error)

    def _others(self) -> Iterator[Difference]:
        """Another optimizer, other steps, or other parameters."""
        if self.theirs.left_out != self.ours.left_out:
            yield self._setting("steps left out by GradScaler", str(self.theirs.left_out), str(self.ours.left_out))
        if self.theirs.optimizer != self.ours.optimizer:
            yield self._setting("optimizer", self.theirs.optimizer, self.ours.optimizer)
        theirs, ours = ({one.name: one for one in step.parameters} for step in (self.theirs, self.ours))
        told = [(name, "trained", "") for name in theirs if name not in ours]
        told += [(name, "", "trained") for name in ours if name not in theirs]
        for name, original, here in told:
            yield Difference("parameters", name, self.theirs.optimizer, self.number, *self._place, original=original, here=here)

    def _modes(self) -> Iterator[Difference]:
        theirs, ours = set(self.theirs.in_eval), set(self.ours.in_eval)
        order = [*self.theirs.in_eval, *self.ours.in_eval]
        for name in sorted(theirs ^ ours, key=lambda name: (-name.count("."), order.index(name))):
            words = ("eval()", "train()") if name in theirs else ("train()", "eval()")
            yield self._of_loss("mode", name, "", original=words[0], here=words[1])

    def _settings(self) -> Iterator[Difference]:
        if len(self.theirs.groups) != len(self.ours.groups):
            yield self._setting("len(param_groups)", str(len(self.theirs.groups)), str(len(self.ours.groups)))
        for number, (theirs, ours) in enumerate(zip(self.theirs.groups, self.ours.groups, strict=False)):
            for name in theirs.keys() & ours.keys() if theirs != ours else ():
                if theirs[name] != ours[name]:
                    yield self._setting(f"param_groups[{number}]['{name}']", theirs[name], ours[name])

    @property
    def _place(self) -> tuple[str, int]:
        return self.theirs.file, self.theirs.line

    def _setting(self, name: str, original: str, here: str) -> Difference:
        return Difference("setting", name, self.theirs.optimizer, self.number, *self._place, original=original, here=here)

    def _of_update(self, what: What, one: ParameterStep, error: float) -> Difference:
        return Difference(what, one.name, self.theirs.optimizer, self.number, *self._place, one.dtype, error)

    def _of_loss(self, what: What, node: str, op: str, **told: Any) -> Difference:
        return Difference(what, node, op, self.number, self.theirs.backward_file, self.theirs.backward_line, **told)


def _apart_since(last: tuple[ParameterStep, ParameterStep], one: ParameterStep, other: ParameterStep) -> float:
    """The distance of what two scripts have made of a parameter since the last step, over the parameter's norm."""
    theirs, ours = (_minus(now.before, then.after) for now, then in zip((one, other), last, strict=True))
    return 0.0 if _is_same(theirs, ours) else _share(_norm(_minus(theirs, ours)), _norm(one.before))


def _minus(left: Sequence[float], right: Sequence[float]) -> list[float]:
    return [one - other for one, other in zip(left, right, strict=True)]


def _norm(sketch: Sequence[float]) -> float:
    return math.sqrt(sum(value * value for value in sketch)) if all(map(math.isfinite, sketch)) else math.inf


def _distance(theirs: Sequence[float], ours: Sequence[float]) -> float:
    """The norm of the difference over that of the original."""
    return 0.0 if _is_same(theirs, ours) else _share(_norm(_minus(theirs, ours)), _norm(theirs))


def _is_same(theirs: Sequence[float], ours: Sequence[float]) -> bool:
    """Whether all numbers are the same, NaN among them."""
    return all(one == other or (one != one and other != other) for one, other in zip(theirs, ours, strict=True))


def _share(apart: float, of: float) -> float:
    if not math.isfinite(of) or math.isnan(apart):
        return math.inf
    return apart / of if of else math.inf if apart else 0.0


def _gradient_error(theirs: ParameterStep, ours: ParameterStep) -> float:
    if theirs.gradient is None or ours.gradient is None:
        return 0.0 if theirs.gradient is ours.gradient else math.inf
    return _distance(theirs.gradient, ours.gradient)


def _update_error(theirs: ParameterStep, ours: ParameterStep) -> float:
    return _distance(_minus(theirs.after, theirs.before), _minus(ours.after, ours.before))
