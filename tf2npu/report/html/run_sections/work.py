"""Floating-point operations on the device by operator."""

from __future__ import annotations

from tf2npu.report.formats.render_context import View
from tf2npu.report.html.page_types import Section
from tf2npu.report.html.run_sections.figures import WIDTH
from tf2npu.report.runs.document import RunDocument


def section(view: View, run: RunDocument) -> Section | None:
    work = run.get("work", [])
    total, most = sum(entry["operations"] for entry in work), max((entry["operations"] for entry in work), default=0.0)
    if not total:
        return None
    rows = [
        {
            "op": entry["op"], "operations": f"{entry['operations']:.3g}", "share": f"{100 * entry['operations'] / total:.1f} %",
            "width": f"{WIDTH * entry['operations'] / most:.1f}",
        }
        for entry in work
    ]  # fmt: skip
    return Section("work", view.texts.text("Floating-point operations by operator"), {"rows": rows, "total": f"{total:.3g}"})
