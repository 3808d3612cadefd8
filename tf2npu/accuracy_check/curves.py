"""The losses of the runs as lines of a picture."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from npu_formats.documents.check_record import Run

Points = list[tuple[float, float]]
WIDTH, HEIGHT = 100.0, 40.0
"""Size of the picture, in units of its own."""
_MOST_POINTS = 2_000
"""Points of a line: more than a screen has columns."""
_DOT = 0.4
"""Half the width of a line that stands for a single step."""


_ALIKE = 0.3
"""Height by which lines may be apart that are drawn as one: two pixels or so, which no eye tells apart."""


@dataclass(frozen=True)
class Curve:
    """The lines of a run, or of several whose lines lie on each other; a loss that is no finite number makes a gap.

    label: of the runs.  style: number of its look.  lines: each the points of a polyline.
    """

    label: str
    style: int
    lines: list[str]


@dataclass(frozen=True)
class Picture:
    """All curves, and the losses at the picture's lower and upper edge.  steps: number of them."""

    curves: list[Curve]
    least: float
    most: float
    steps: int

    @property
    def ticks(self) -> list[float]:
        """The losses beside the picture, from the top."""
        return [self.most, self.least / 2 + self.most / 2, self.least] if self.most > self.least else [self.most]


def picture(runs: list[Run]) -> Picture | None:
    """The curves of all runs that have a finite loss; None where none has."""
    values = [value for run in runs for value in run.loss if value is not None and math.isfinite(value)]
    if not values:
        return None
    least, most = min(values), max(values)
    steps = max(len(run.loss) for run in runs)
    drawn = [(run.label, n, list(_lines(run, steps, least, most))) for n, run in enumerate(runs)]
    return Picture(list(_together([one for one in drawn if one[2]])), least, most, steps)


def _together(drawn: list[tuple[str, int, list[Points]]]) -> Iterator[Curve]:
    """The curves; runs whose lines lie on each other are one, with the look of the first."""
    left = list(drawn)
    while left:
        _, style, lines = left[0]
        alike = [one for one in left if _are_alike(one[2], lines)]
        left = [one for one in left if one not in alike]
        yield Curve(", ".join(label for label, _, _ in alike), style, [_line(points) for points in lines])


def _are_alike(some: list[Points], others: list[Points]) -> bool:
    if [len(points) for points in some] != [len(points) for points in others]:
        return False
    pairs = (pair for one, other in zip(some, others, strict=True) for pair in zip(one, other, strict=True))
    return all(x == their_x and abs(y - their_y) <= _ALIKE for (x, y), (their_x, their_y) in pairs)


def _lines(run: Run, steps: int, least: float, most: float) -> Iterator[Points]:
    points: Points = []
    stride = max(1, math.ceil(steps / _MOST_POINTS))
    for step in range(0, len(run.loss), stride):
        value = run.loss[step]
        if value is None or not math.isfinite(value):
            if points:
                yield points
            points = []
        else:
            points.append((_x(step, steps), _y(value, least, most)))
    if points:
        yield points


def _x(step: int, steps: int) -> float:
    """From edge to edge, where the first and the last step are named below; a single step is in the middle."""
    return WIDTH * (step / (steps - 1) if steps > 1 else 0.5)


def _y(value: float, least: float, most: float) -> float:
    """Halves first, as the distance of two finite numbers can be infinite."""
    distance = most / 2 - least / 2
    share = (value / 2 - least / 2) / distance if distance else 0.5
    return HEIGHT * (0.95 - 0.9 * share)


def _line(points: Points) -> str:
    if len(points) == 1:
        ((x, y),) = points
        points = [(x - _DOT, y), (x + _DOT, y)]
    return " ".join(f"{x:.2f},{y:.2f}" for x, y in points)
