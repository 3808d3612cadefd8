"""The sections of a run's page, one file each: to add one, write it with its template and put it on the list.

A section is `section(view, run)`, which gives what htmlfiles/run_sections/NAME.html shows, or None where the run has nothing
of it.  What does not belong to one run, such as a check, is `section(view)`, on the second list.
"""

from __future__ import annotations

from collections.abc import Callable

from tf2npu.report.formats.render_context import View
from tf2npu.report.html.page_types import Section
from tf2npu.report.html.run_sections import (
    check,
    findings,
    host,
    notes,
    numbers,
    operators,
    ranks,
    sessions,
    shapes,
    speed,
    timeline,
    work,
)  # fmt: skip
from tf2npu.report.runs.document import RunDocument

RUN_SECTIONS: tuple[Callable[[View, RunDocument], Section | None], ...] = (
    findings.section, timeline.section, speed.section, numbers.section, ranks.section, shapes.section, host.section,
    operators.limits, operators.copies, operators.memory, operators.switched,
    work.section, notes.precision, notes.tuning, notes.functions, notes.options, sessions.section,
)  # fmt: skip
"""Sections in the order in which a page shows them."""
REPORT_SECTIONS: tuple[Callable[[View], Section | None], ...] = (check.section,)
"""Sections behind the last run."""
