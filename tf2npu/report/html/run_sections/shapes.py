"""Inputs whose shapes changed: an NPU compiles for each combination."""

from __future__ import annotations

from tf2npu.report.formats.render_context import View
from tf2npu.report.html.page_types import Section
from tf2npu.report.runs import run_texts
from tf2npu.report.runs.document import RunDocument


def section(view: View, run: RunDocument) -> Section | None:
    lines = [view.texts.text(line) for line in run_texts.shape_changes(run)]
    if not lines:
        return None
    return Section(
        "shapes",
        view.texts.text("Shapes that changed"),
        {"advice": view.texts.text(run_texts.COMPILED_FOR_EACH), "lines": lines},
    )
