"""The pages of a report, one file each; the pages of files come after them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tf2npu.report.formats.render_context import View
from tf2npu.report.html.page_types import Page
from tf2npu.report.html.pages import apis, decisions, files, findings, overview, rules, runs, scripts

PAGES: tuple[Callable[[View], Iterable[Page]], ...] = (
    overview.pages, decisions.pages, findings.pages, files.pages, scripts.pages, apis.pages, rules.pages, runs.pages,
)  # fmt: skip
"""Pages in the order in which the navigation names them. Each gives its pages, or none where the report has nothing for it."""
