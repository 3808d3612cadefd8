"""Sessions that stayed on TensorFlow, and those that nobody closed."""

from __future__ import annotations

from tf2npu.report.formats.render_context import View
from tf2npu.report.html.page_types import Section
from tf2npu.report.runs.document import RunDocument


def section(view: View, run: RunDocument) -> Section | None:
    stayed, left_open = run.get("sessions_on_tensorflow", []), run["sessions_left_open"]
    if not stayed and not left_open:
        return None
    return Section("sessions", view.texts.text("Sessions"), {"stayed": stayed, "left_open": left_open})
