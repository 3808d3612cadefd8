"""Figures and pictures of runs, as their pages show them."""

from __future__ import annotations

import math
from collections.abc import Sequence

WIDTH = 1000
"""Width of a picture, in its own units; a page stretches it."""
CURVE_HEIGHT = 200
"""Height of the picture of curves."""
_UNITS = ("B", "kB", "MB", "GB", "TB")


def seconds(number: float) -> str:
    """A time in a unit that reads well."""
    if number >= 1:
        return f"{number:.3g} s" if number < 1000 else f"{number:.0f} s"
    return f"{1e3 * number:.3g} ms" if number >= 1e-3 else f"{1e6 * number:.3g} µs"


def a_second(step_seconds: float) -> str:
    """The number of steps a second, as text; "" where there is no time of a step."""
    rate = 1 / step_seconds if step_seconds > 0 else 0.0
    return "" if not rate else f"{rate:.0f}" if rate >= 1000 else f"{rate:.3g}"


def percent(share: float) -> str:
    """A share of 1; one that is hardly there is told to be below what is shown."""
    return "< 0.01 %" if 0 < share < 1e-4 else f"{100 * share:.2f} %"


def size(n_bytes: int) -> str:
    """A size in a unit that reads well, of 1,000 each."""
    power = min(int(math.log10(n_bytes) // 3), len(_UNITS) - 1) if n_bytes else 0
    return f"{n_bytes / 1000**power:.3g} {_UNITS[power]}"


def polylines(curves: Sequence[Sequence[tuple[int, float]]]) -> tuple[list[str], float, float]:
    """Points of each curve, (step, value), for SVG polylines on one scale, and the least and the largest value.

    What is no number is left out, and its steps stay empty.
    """
    finite = [[(step, value) for step, value in curve if math.isfinite(value)] for curve in curves]
    values = [value for curve in finite for _, value in curve]
    steps = [step for curve in curves for step, _ in curve]
    if not values:
        return ["" for _ in curves], math.nan, math.nan
    low, high, first, last = min(values), max(values), min(steps), max(steps)
    across, up = max(last - first, 1), (high - low) or 1.0
    shown = [
        " ".join(f"{WIDTH * (step - first) / across:.1f},{CURVE_HEIGHT * (high - value) / up:.1f}" for step, value in curve)
        for curve in finite
    ]
    return shown, low, high
