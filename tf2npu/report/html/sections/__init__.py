"""The sections of the first page, one file each."""

from __future__ import annotations

from collections.abc import Callable

from tf2npu.report.formats.render_context import View
from tf2npu.report.html.page_types import Section
from tf2npu.report.html.sections import coverage, entry_scripts, history, left_to_do, next_steps, pictures, totals, tour, verdict

SECTIONS: tuple[Callable[[View], Section | None], ...] = (
    verdict.section, next_steps.section, entry_scripts.section, left_to_do.section, pictures.section, history.section,
    totals.section, coverage.section, tour.section,
)  # fmt: skip
"""Sections in the order in which the page shows them. One that has nothing to say gives None."""
