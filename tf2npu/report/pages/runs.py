"""What `tf2npu run` and `tf2npu check` added to the report."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tf2npu.report import check_section, run_page
from tf2npu.report.page import Page
from tf2npu.report.view import View


def pages(view: View) -> Iterator[Page]:
    if view.report.runs or view.report.check:
        yield Page("runs.html", "pages/runs.html", lambda: _context(view))


def _context(view: View) -> dict[str, Any]:
    report = view.report
    return {
        "runs": list(run_page.runs(report, view.texts, view.site)),
        "check": _check(view, report.check) if report.check else None,
    }


def _check(view: View, check: check_section.CheckDocument) -> dict[str, Any]:
    """A sentence, and a row for each mode."""
    texts = view.texts
    rows = [
        {
            "mode": mode["mode"], "verdict": texts.text(check_section.verdict(mode)),
            "is_wrong": mode["verdict"] != "agrees", "first": check_section.first_difference(mode),
            "change": texts.text(check_section.least_change(mode)),
        }
        for mode in check["modes"]
    ]  # fmt: skip
    return {"sentence": texts.text(check_section.sentence(check)), "rows": rows}
