"""Inputs whose shapes changed: an NPU compiles for each combination."""

from __future__ import annotations

from tf2npu.report import run_section
from tf2npu.report.page import Section
from tf2npu.report.run_document import RunDocument
from tf2npu.report.view import View


def section(view: View, run: RunDocument) -> Section | None:
    lines = [view.texts.text(line) for line in run_section.shape_changes(run)]
    if not lines:
        return None
    return Section(
        "shapes",
        view.texts.text("Shapes that changed"),
        {"advice": view.texts.text(run_section.COMPILED_FOR_EACH), "lines": lines},
    )
