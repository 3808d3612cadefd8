"""Numbers that steps fetched, such as the loss, as curves: of several ranks beside each other."""

from __future__ import annotations

from typing import Any

from tf2npu.report.formats.render_context import View
from tf2npu.report.html.page_types import Section
from tf2npu.report.html.run_sections.figures import CURVE_HEIGHT, WIDTH, polylines
from tf2npu.report.languages.language import Catalogue
from tf2npu.report.runs.document import RunDocument

_MOST_NUMBERS = 4
"""Numbers that get a picture: the loss stands among the first."""
_MOST_RANKS = 8
"""Curves of a picture, as many as there are colours."""


def section(view: View, run: RunDocument) -> Section | None:
    ranks = [(f"{view.texts.text('Rank')} {one['rank']}", one["scalars"]) for one in run.get("ranks", ())]
    named = ranks or [("", run.get("scalars", []))]
    names = dict.fromkeys(scalar["name"] for _, scalars in named for scalar in scalars)
    shown = [_number(name, named, view.texts) for name in list(names)[:_MOST_NUMBERS]]
    if not shown:
        return None
    values = {"numbers": shown, "width": WIDTH, "height": CURVE_HEIGHT, "n_more": max(0, len(names) - _MOST_NUMBERS)}
    return Section("numbers", view.texts.text("Numbers that were fetched"), values)


def _number(name: str, named: list[tuple[str, list[dict[str, Any]]]], texts: Catalogue) -> dict[str, Any]:
    found = [(rank, scalar) for rank, scalars in named for scalar in scalars if scalar["name"] == name]
    curves = [[(step, _float(value)) for step, value in scalar.get("points", ())] for _, scalar in found[:_MOST_RANKS]]
    lines, low, high = polylines(curves)
    steps = [step for curve in curves for step, _ in curve]
    rows = [{"rank": rank, "first": scalar["first"], "last": scalar["last"]} for rank, scalar in found]
    has_picture = any(len(curve) > 1 for curve in curves)
    edges = [high, low / 2 + high / 2, low] if high > low else [high]
    return {
        "name": name, "rows": rows, "lines": lines if has_picture else [],
        "values": [f"{value:.4g}" for value in edges], "first_step": min(steps, default=0), "last_step": max(steps, default=0),
        "told": texts.text(f"{low:.4g} to {high:.4g}, steps {min(steps, default=0)} to {max(steps, default=0)}"),
    }  # fmt: skip


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")
