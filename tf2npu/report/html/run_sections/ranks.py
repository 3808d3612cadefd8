"""The ranks of a run beside each other."""

from __future__ import annotations

from tf2npu.report.formats.render_context import View
from tf2npu.report.html.page_types import Section
from tf2npu.report.runs import run_texts
from tf2npu.report.runs.document import RunDocument


def section(view: View, run: RunDocument) -> Section | None:
    rows = run_texts.of_ranks(run)
    return Section("ranks", view.texts.text("Ranks"), {"rows": rows}) if rows else None
