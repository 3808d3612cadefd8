"""Four sentences for somebody who sees a report for the first time."""

from __future__ import annotations

from tf2npu.report.legend import tour
from tf2npu.report.page import Section
from tf2npu.report.view import View


def section(view: View) -> Section:
    return Section("tour", view.texts.text("New here?"), {"sentences": tour(view.texts)})
