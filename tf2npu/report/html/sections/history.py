"""The work that was left after each conversion, as a line and as a table."""

from __future__ import annotations

from tf2npu.report.formats.render_context import View
from tf2npu.report.html.page_types import Section
from tf2npu.report.model.report import HistoryEntry

WIDTH, HEIGHT = 240.0, 48.0
"""Size of the picture, in pixels: it stands beside a line of text."""
_MARGIN = 4.0
"""Pixels around the line, so that half of its width and the last point are not cut."""


def section(view: View) -> Section | None:
    """None for a project that was converted once: a single number is no history."""
    entries = view.report.history
    if len(entries) < 2:
        return None
    texts = view.texts
    values = {
        "entries": list(enumerate(entries, 1)),
        "points": points([entry.places for entry in entries]),
        "width": f"{WIDTH:g}",
        "height": f"{HEIGHT:g}",
        "label": texts.text(label(entries)),
        "has_minutes": any(entry.minutes is not None for entry in entries),
    }
    return Section("history", texts.text("History"), values)


def label(entries: tuple[HistoryEntry, ...]) -> str:
    """The label of the line, in one sentence: the first, the last and the largest number of places."""
    return (
        f"Places that were left after each of the {len(entries)} conversions that changed it: from {entries[0].places} "
        f"to {entries[-1].places}, at most {max(entry.places for entry in entries)}."
    )


def points(numbers: list[int]) -> list[tuple[str, str]]:
    """(x, y) of each number in the picture, from left to right; nothing is at the bottom, the most at the top."""
    most = max(max(numbers), 1)
    step = (WIDTH - 2 * _MARGIN) / max(len(numbers) - 1, 1)
    room = HEIGHT - 2 * _MARGIN
    return [(f"{_MARGIN + n * step:.1f}", f"{_MARGIN + room * (1 - number / most):.1f}") for n, number in enumerate(numbers)]
