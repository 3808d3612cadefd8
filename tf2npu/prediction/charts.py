"""The positions of the marks in the page's pictures: the roofline, memory over the step, parts of the time.

Coordinates are units of the picture, from its left upper corner.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from npu_formats.documents.prediction import ChipStep, Shares, Task
from tf2npu.prediction import figures

WIDTH, HEIGHT = 720.0, 340.0
"""Size of a picture, in its own units; the browser scales it to the width that there is."""
LEFT, RIGHT, TOP, BOTTOM = 92.0, 40.0, 14.0, 46.0
"""Margins around the plotted area; the left one holds the labels of its axis, the lower one those of the other."""
MOST_POINTS = 2000
"""Points of a picture: as many as a screen can tell apart. More make a browser slow to scroll: 20,000 take a second."""
MOST_TICKS = 9
"""Labels of an axis that do not touch each other in WIDTH."""
LEAST, MOST = 1e-9, 1e12
"""Range of a roofline chart. Operations a byte and TFLOPS of real tasks lie between 1e-6 and 1e4; a task outside of the range is
drawn at the border, and the axis stays readable."""


@dataclass(frozen=True)
class Axis:
    """A logarithmic or linear scale from values to coordinates."""

    low: float
    high: float
    start: float
    end: float
    is_log: bool = False

    def at(self, value: float) -> float:
        """The coordinate of a value, with a tenth of a unit; what lies outside is drawn at the border."""
        low, high, value = (math.log10(v) for v in (self.low, self.high, value)) if self.is_log else (self.low, self.high, value)
        share = (value - low) / (high - low) if high > low else 0.0
        return round(self.start + min(max(share, 0.0), 1.0) * (self.end - self.start), 1)

    def ticks(self) -> list[float]:
        """Powers of ten of a logarithmic axis; five equal parts of a linear one."""
        if not self.is_log:
            return [self.low + (self.high - self.low) * part / 4 for part in range(5)]
        first, last = round(math.log10(self.low)), round(math.log10(self.high))
        apart = 1 + (last - first) // MOST_TICKS
        return [10.0**power for power in range(first, last + 1, apart)]


@dataclass
class Picture:
    """x_ticks, y_ticks: (coordinate, label).  line: corners of a polyline.  n_left_out: tasks that are not drawn."""

    x_ticks: list[tuple[float, str]]
    y_ticks: list[tuple[float, str]]
    line: str = ""
    points: list[tuple[float, float, Task]] = field(default_factory=list)
    n_left_out: int = 0


def roofline(step: ChipStep) -> Picture | None:
    """Each task by its operations a byte and its speed, under what the chip can do; None where no task has both."""
    found = [task for task in step.tasks if task.flops and task.hbm_bytes and task.duration_us]
    if not found:
        return None
    drawn = longest(found, MOST_POINTS)
    peak, speed = step.chip.peak_tflops or 0.0, (step.chip.hbm_gb_per_s or 0.0) / 1000
    corner = [_drawn(peak / speed)] if peak and speed else []
    x = _log_axis([*map(_intensity, drawn), *corner], LEFT, WIDTH - RIGHT)
    y = _log_axis([*map(_tflops, drawn), *([_drawn(peak)] if peak else [])], HEIGHT - BOTTOM, TOP)
    picture = Picture(_ticks(x, "{:g}"), _ticks(y, "{:g}"), n_left_out=len(found) - len(drawn))
    picture.points = [(x.at(_intensity(task)), y.at(_tflops(task)), task) for task in drawn]
    if corner:
        bend = [value for value in (y.low / speed, *corner, x.high) if x.low <= value <= x.high]
        values = sorted({x.low, *bend})
        picture.line = _polyline((x.at(value), y.at(min(peak, speed * value))) for value in values if speed * value >= y.low)
    return picture


def _intensity(task: Task) -> float:
    """Operations a byte of device memory."""
    return _drawn((task.flops or 0.0) / (task.hbm_bytes or 1.0))


def _tflops(task: Task) -> float:
    return _drawn((task.flops or 0.0) / task.duration_us / 1e6)


def _drawn(value: float) -> float:
    return min(max(value, LEAST), MOST)


def longest(tasks: Sequence[Task], most: int) -> list[Task]:
    """The tasks that take most time, in their order."""
    if len(tasks) <= most:
        return list(tasks)
    kept = sorted(range(len(tasks)), key=lambda number: (-tasks[number].duration_us, number))[:most]
    return [tasks[number] for number in sorted(kept)]


def memory(step: ChipStep) -> Picture | None:
    """Bytes in use over the step, each until the next; None where they are not known."""
    if len(step.memory) < 2:
        return None
    moments = _thinned(sorted(step.memory))
    end = max(moments[-1][0], (step.step_ms or 0.0) * 1000)
    x = Axis(moments[0][0], max(end, moments[0][0] + 1), LEFT, WIDTH - RIGHT)
    y = Axis(0.0, max(amount for _, amount in moments) or 1.0, HEIGHT - BOTTOM, TOP)
    corners, last = [], moments[0][1]
    for moment, amount in [*moments, (end, moments[-1][1])]:
        corners += [(x.at(moment), y.at(last)), (x.at(moment), y.at(amount))]
        last = amount
    x_ticks = [(x.at(value), figures.us(value)) for value in x.ticks()]
    return Picture(x_ticks, [(y.at(value), figures.n_bytes(value)) for value in y.ticks()], _polyline(corners))


def _thinned(moments: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """At most MOST_POINTS of the moments; of those that fall together the largest stays, so that no peak is lost."""
    together = -(-len(moments) // MOST_POINTS)
    groups = (moments[at : at + together] for at in range(0, len(moments), together))
    return [max(group, key=lambda pair: pair[1]) for group in groups]


def parts(shares: Shares, names: Sequence[str]) -> list[tuple[str, float, float, float]]:
    """(name, share, left, width) of each known part of the step's time, in a bar of WIDTH."""
    found, at = [], 0.0
    for name in names:
        share = getattr(shares, name)
        if share is not None:
            found.append((name, share, round(at * WIDTH, 1), round(share * WIDTH, 1)))
            at += share
    return found


def core_share(shares: Shares) -> float | None:
    """The share of the step in which the AI cores work; None where the launches of tasks are not known apart."""
    known = [share for share in (shares.cube, shares.vector, shares.memory) if share is not None]
    return None if shares.launch is None or not known else sum(known)


def pipes(tasks: Iterable[Task]) -> list[tuple[str, float]]:
    """(pipe, share of all cycles in which it is busy), the busiest first."""
    total, busy = 0.0, dict[str, float]()
    for task in tasks:
        total += task.total_cycles or 0.0
        for pipe, cycles in task.cycles.items():
            busy[pipe] = busy.get(pipe, 0.0) + cycles
    pairs = [(pipe, min(cycles / total, 1.0)) for pipe, cycles in busy.items() if total]
    return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))


def _log_axis(values: Sequence[float], start: float, end: float) -> Axis:
    """An axis from the power of ten below all values to the one above."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return Axis(10.0**low, 10.0 ** max(high, low + 1), start, end, is_log=True)


def _ticks(axis: Axis, form: str) -> list[tuple[float, str]]:
    return [(axis.at(value), form.format(value)) for value in axis.ticks()]


def _polyline(corners: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{x:g},{y:g}" for x, y in corners)
