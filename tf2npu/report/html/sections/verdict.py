"""The verdict on the project, the work that is left, and what may go wrong: what a lead reads without scrolling."""

from __future__ import annotations

from typing import Any

from tf2npu.config import EffortSettings
from tf2npu.report.formats.render_context import View
from tf2npu.report.html.page_types import Section
from tf2npu.report.languages.language import counted
from tf2npu.report.model.apis import numbers
from tf2npu.report.work.effort import Effort, effort, method, shown_hours
from tf2npu.report.work.verdict import verdict

_COSTLIEST = 10
"""Decisions whose minutes are told: the page of decisions has all."""
_NAMES = {
    "done by the tool": "Done by the tool", "to decide": "To decide", "to copy": "To write, code at hand",
    "to write": "To write, no code at hand", "blocked": "Blocked",
}  # fmt: skip
_CORRELATION = (
    "For 19 projects that people moved to the NPU, the minutes of the table and the lines that people changed have a rank "
    "correlation of 0.01 (95 %: -0.51 to 0.50)."
)
"""The rank correlation of the table; docs/report_effort.md has how it was measured."""


def section(view: View) -> Section:
    report, left = view.report, view.decisions
    said, estimate = verdict(report, left), effort(report, left)
    values = {
        "kind": said.kind.replace(" ", "-"),
        "sentence": view.texts.text(said.sentence),
        "left": view.texts.counted(estimate.left.places, "place"),
        "hours": _hours(view, estimate),
        "correlation": view.texts.text(_CORRELATION),
        "shares": [_share(view, estimate, name) for name in estimate.shares],
        "risks": [view.texts.text(text) for text in _risks(view)],
        "costliest": [
            {
                "decision": decision,
                "cost": cost,
                "kind": view.texts.word(cost.kind),
                "minutes": round(minutes),
            }
            for decision, cost, minutes in (method(left, report.effort)[:_COSTLIEST] if report.effort.minutes else ())
        ],
        "range": view.texts.text(_range(report.effort)),
    }
    return Section("verdict", view.texts.text("Verdict"), values)


def _share(view: View, estimate: Effort, name: str) -> dict[str, Any]:
    share = estimate.shares[name]
    return {
        "id": name.replace(" ", "-"),
        "name": view.texts.text(_NAMES[name]),
        "decisions": share.decisions,
        "places": share.places,
        "figure": view.texts.counted(share.lines, "line") if share.lines else view.texts.counted(share.places, "place"),
        "has_lines": bool(share.lines),
    }


def _hours(view: View, estimate: Effort) -> str:
    """The hours that are left, where they are told."""
    hours = estimate.hours(estimate.left)
    return "" if hours is None else view.texts.text(shown_hours(*hours))


def _range(settings: EffortSettings) -> str:
    """The explanation of the two ends of the range, in English."""
    return f"The range goes from {settings.low:g} to {settings.high:g} times the sum."


def _risks(view: View) -> list[str]:
    """The risks that the hours do not tell, in English."""
    report, unknown = view.report, numbers(view.report)["unknown"]
    places = sum(decision.n_places for decision in view.decisions if decision.label == "unsupported")
    failed = sum(1 for file in report.files if file.has_failed)
    found = []
    if places:
        found.append(f"No way to the NPU is known as written: {counted(places, 'place')}.")
    if unknown:
        found.append(f"Unknown to the converter: {counted(unknown, 'reference')} to frameworks.")
    if failed:
        found.append(f"{counted(failed, 'file')} could not be converted.")
    return found or ["None that the converter sees."]
