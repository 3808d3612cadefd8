"""The coverage: references by what is known, lines by who touches them, and what was not looked at."""

from __future__ import annotations

from typing import Any

from tf2npu.report.formats.render_context import View
from tf2npu.report.html.page_types import Section
from tf2npu.report.model.apis import numbers
from tf2npu.report.model.report import ApiRow
from tf2npu.report.work.coverage import NotSeen, lines, nearest, not_seen, unknown

_UNKNOWN, _NOT_SEEN, _PLACES = 10, 12, 2
"""Rows and places that the first page names; the list of APIs has all."""


def section(view: View) -> Section:
    report, texts = view.report, view.texts
    rows, unseen, counted = unknown(report), not_seen(report), lines(report)
    values = {
        "references": numbers(report),
        "lines": counted,
        "shares": {name: _share(getattr(counted, name), counted.total) for name in ("tool", "person", "nobody")},
        "unknown": [_unknown(view, row) for row in rows[:_UNKNOWN]],
        "n_more_unknown": max(0, len(rows) - _UNKNOWN),
        "unseen": [_unseen(view, one) for one in unseen[:_NOT_SEEN]],
        "n_more_unseen": max(0, len(unseen) - _NOT_SEEN),
    }
    return Section("coverage", texts.text("Coverage"), values)


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "0 %"


def _unknown(view: View, row: ApiRow) -> dict[str, Any]:
    places = [(place, view.href_of_place(place)) for place in row.places[:_PLACES]]
    return {
        "name": row.name,
        "count": row.count,
        "note": view.texts.text(row.note),
        "nearest": nearest(row.name),
        "places": places,
    }


def _unseen(view: View, one: NotSeen) -> dict[str, Any]:
    reason = view.rules.title(one.rule) if one.rule else view.texts.text(one.reason)
    return {"reason": reason, "count": one.count, "first": one.first, "href": view.href_of_place(one.first) if one.first else ""}
