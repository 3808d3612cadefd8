"""Four sentences for somebody who sees a report for the first time."""

from __future__ import annotations

from tf2npu.report.formats.render_context import View
from tf2npu.report.html.legend import tour
from tf2npu.report.html.page_types import Section


def section(view: View) -> Section:
    return Section("tour", view.texts.text("New here?"), {"sentences": tour(view.texts)})
