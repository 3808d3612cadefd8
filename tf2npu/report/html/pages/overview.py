"""The first page: what a reader needs to see before anything else, section by section."""

from __future__ import annotations

from collections.abc import Iterator

from tf2npu.report.formats.render_context import View
from tf2npu.report.html.code_table import told
from tf2npu.report.html.page_types import Page
from tf2npu.report.html.sections import SECTIONS
from tf2npu.report.work.next_steps import with_real_paths


def pages(view: View) -> Iterator[Page]:
    yield Page("index.html", "pages/overview.html", lambda: _context(view))


def _context(view: View) -> dict[str, object]:
    sections = [section for make in SECTIONS if (section := make(view)) is not None]
    return {
        "above_headline": "next_steps" if any(section.name == "next_steps" for section in sections) else "verdict",
        "title": view.texts.text("tf2npu report"),
        "headline": told(with_real_paths(view.report, view.texts.text(view.report.headline))),
        "sections": sections,
    }
