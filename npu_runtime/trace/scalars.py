"""Numbers that a program fetched, step by step, for a report: a few of them stand for all."""

from __future__ import annotations

from dataclasses import dataclass, field

MOST_NUMBERS = 16
"""The most fetched numbers of a program that are kept: a training step fetches a loss or two, and the first ones count."""
MOST_POINTS = 100
"""Points of one number's curve that are kept: a page draws it on a few hundred pixels."""


@dataclass
class Curve:
    """One number.  points: (step from 1, value), every `stride` steps; the last step is `last`."""

    first: float
    last: float
    points: list[tuple[int, float]] = field(default_factory=list)
    stride: int = 1

    def add(self, step: int, value: float) -> None:
        """The value of a step; steps come in order."""
        self.last = value
        if (step - 1) % self.stride:
            return
        self.points.append((step, value))
        if len(self.points) > MOST_POINTS:
            self.stride *= 2
            self.points = [point for point in self.points if (point[0] - 1) % self.stride == 0]


def keep(curves: dict[str, Curve], name: str, step: int, value: float) -> None:
    """Add to the curve of a number, when it is one of the first."""
    if name not in curves:
        if len(curves) == MOST_NUMBERS:
            return
        curves[name] = Curve(value, value)
    curves[name].add(step, value)
