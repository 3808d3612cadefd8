"""The losses of the runs as lines of a picture."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from npu_formats.documents.check_record import Run

WIDTH, HEIGHT = 100.0, 40.0
"""Size of the picture, in units of its own."""
_MOST_POINTS = 2_000
"""Points of a line: more than a screen has columns."""
_DOT = 0.4
"""Half the width of a line that stands for a single step."""


@dataclass(frozen=True)
class Curve:
    """A run's lines, each the points of a polyline; a loss that is no finite number makes a gap.  style: number of its look."""

    label: str
    style: int
    lines: list[str]


@dataclass(frozen=True)
class Picture:
    """All curves, and the losses at the picture's lower and upper edge."""

    curves: list[Curve]
    least: float
    most: float


def picture(runs: list[Run]) -> Picture | None:
    """The curves of all runs that have a finite loss; None where none has."""
    values = [value for run in runs for value in run.loss if value is not None and math.isfinite(value)]
    if not values:
        return None
    least, most = min(values), max(values)
    steps = max(len(run.loss) for run in runs)
    curves = [Curve(run.label, n, list(_lines(run, steps, least, most))) for n, run in enumerate(runs)]
    return Picture([curve for curve in curves if curve.lines], least, most)


def _lines(run: Run, steps: int, least: float, most: float) -> Iterator[str]:
    points: list[tuple[float, float]] = []
    stride = max(1, math.ceil(steps / _MOST_POINTS))
    for step in range(0, len(run.loss), stride):
        value = run.loss[step]
        if value is None or not math.isfinite(value):
            yield from _line(points)
            points = []
        else:
            points.append((_x(step, steps), _y(value, least, most)))
    yield from _line(points)


def _x(step: int, steps: int) -> float:
    return WIDTH * (step + 0.5) / steps


def _y(value: float, least: float, most: float) -> float:
    """Halves first, as the distance of two finite numbers can be infinite."""
    distance = most / 2 - least / 2
    share = (value / 2 - least / 2) / distance if distance else 0.5
    return HEIGHT * (0.95 - 0.9 * share)


def _line(points: list[tuple[float, float]]) -> Iterator[str]:
    if len(points) == 1:
        ((x, y),) = points
        points = [(x - _DOT, y), (x + _DOT, y)]
    if points:
        yield " ".join(f"{x:.2f},{y:.2f}" for x, y in points)
