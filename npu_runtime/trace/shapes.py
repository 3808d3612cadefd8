"""The shapes that an input of a program met, and the lines of the user's that brought them: an NPU compiles for each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

Shape = tuple[int, ...]
MOST_SHAPES = 1000
"""Shapes of an input up to which they are counted: more are as bad, and a long training would fill the memory."""
SHOWN_SHAPES = 4
"""Shapes that are told of an input: they show which extent varies."""
MOST_PLACES = 3
"""Lines that are kept of an input: more are rare, and one is enough to begin with."""


@dataclass
class MetShapes:
    """Shapes of one input, in the order in which they came, and the lines "file:line" that ran them."""

    shapes: dict[Shape, None] = field(default_factory=dict)
    places: dict[str, None] = field(default_factory=dict)

    def meet(self, shape: Shape, place: str) -> None:
        """One that a step had.  place: "" where no line of the user's is at work."""
        if shape in self.shapes or len(self.shapes) == MOST_SHAPES:
            return
        self.shapes[shape] = None
        if place and len(self.places) < MOST_PLACES:
            self.places[place] = None


def document(inputs: Iterable[tuple[str, MetShapes]]) -> list[dict[str, Any]]:
    """The inputs whose shape changed, as data for a report."""
    return [
        {"input": name, "count": len(met.shapes), "shapes": shown_shapes(met), "places": list(met.places)}
        for name, met in inputs
        if len(met.shapes) > 1
    ]


def lines(inputs: Iterable[tuple[str, MetShapes]]) -> list[str]:
    """The same for a terminal."""
    return [_line(entry) for entry in document(inputs)]


def _line(entry: dict[str, Any]) -> str:
    left = entry["count"] - len(entry["shapes"])
    more = f" and {left} more" if left else ""
    places = f", run at {', '.join(entry['places'])}" if entry["places"] else ""
    return f"{entry['input']} had {entry['count']} shapes: {', '.join(entry['shapes'])}{more}{places}"


def shown_shapes(met: MetShapes) -> list[str]:
    """The first of its shapes, as texts."""
    return [f"[{','.join(map(str, shape))}]" for shape in list(met.shapes)[:SHOWN_SHAPES]]
