"""The pages for what `tf2npu run` and `tf2npu check` added to the report: one for each run, the last one first."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from tf2npu.report.formats.render_context import View
from tf2npu.report.html import one_run
from tf2npu.report.html.page_types import Page, run_page_name
from tf2npu.report.html.run_sections import REPORT_SECTIONS, RUN_SECTIONS
from tf2npu.report.runs.document import RunDocument

_TEMPLATE = "pages/runs.html"


def pages(view: View) -> Iterator[Page]:
    if not view.report.runs:
        if view.report.check:
            yield Page("runs.html", _TEMPLATE, partial(_context, view, None))
        return
    for number, run in enumerate(view.report.runs, 1):
        yield Page(run_page_name(number), _TEMPLATE, partial(_context, view, run))


def _context(view: View, run: RunDocument | None) -> dict[str, Any]:
    of_run = [] if run is None else [make(view, run) for make in RUN_SECTIONS]
    of_report = [make(view) for make in REPORT_SECTIONS] if run is view.report.run else []
    return {
        "shown": None if run is None else one_run.told(view.report, run, view.texts, view.site),
        "others": [{"href": run_page_name(n), "script": one["script"]} for n, one in enumerate(view.report.runs, 1)],
        "sections": [section for section in (*of_run, *of_report) if section is not None],
    }
