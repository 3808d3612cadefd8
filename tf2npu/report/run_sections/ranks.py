"""The ranks of a run beside each other."""

from __future__ import annotations

from tf2npu.report import run_section
from tf2npu.report.page import Section
from tf2npu.report.run_document import RunDocument
from tf2npu.report.view import View


def section(view: View, run: RunDocument) -> Section | None:
    rows = run_section.of_ranks(run)
    return Section("ranks", view.texts.text("Ranks"), {"rows": rows}) if rows else None
