"""The nodes that ran on the host: by the user's line where that is known, else by reason."""

from __future__ import annotations

from typing import Any

from tf2npu.report.formats.render_context import View
from tf2npu.report.html.page_types import Section
from tf2npu.report.runs.document import RunDocument

_MOST_ROWS = 100
"""Rows that are shown, those with most nodes first."""


def section(view: View, run: RunDocument) -> Section | None:
    rows = [_row(view, entry) for entry in run.get("host_lines") or run["host_nodes"]]
    if not rows:
        return None
    return Section("host", view.texts.text("On the host"), {"rows": rows[:_MOST_ROWS], "n_more": max(0, len(rows) - _MOST_ROWS)})


def _row(view: View, entry: dict[str, Any]) -> dict[str, Any]:
    at, finding = entry.get("at"), entry.get("finding")
    place = f"{at['path']}:{at['line']}" if at else entry.get("place", "")
    return {
        "place": place, "href": view.href_of_place(place) if at else "", "rule": finding["rule"] if finding else "",
        "reason": view.texts.text(entry["reason"]), "count": entry["count"], "example": entry["example"],
    }  # fmt: skip
