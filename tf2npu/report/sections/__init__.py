"""The sections of the first page, one file each."""

from __future__ import annotations

from collections.abc import Callable

from tf2npu.report.page import Section
from tf2npu.report.sections import history, left_to_do, totals, tour
from tf2npu.report.view import View

SECTIONS: tuple[Callable[[View], Section | None], ...] = (totals.section, left_to_do.section, history.section, tour.section)
"""In the order in which the page shows them. One that has nothing to say gives None."""
