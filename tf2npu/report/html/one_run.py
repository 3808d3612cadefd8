"""Runs as their pages show them: texts in the reader's language, and a link to the finding at which a run failed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tf2npu.findings import Finding
from tf2npu.report.languages.language import Catalogue
from tf2npu.report.model.report import FileReport, Report
from tf2npu.report.runs import run_texts
from tf2npu.report.runs.document import RunDocument


def told(
    report: Report, run: RunDocument, texts: Catalogue, site_of: Callable[[FileReport, Finding, int], Any]
) -> dict[str, Any]:  # fmt: skip
    """The values that a page shows of a run before its sections.

    site_of: the link to a finding, by its file and its number there from 1.
    """
    found = _finding(report, run)
    site = site_of(*found) if found is not None else None
    said = run_texts.failed(run)
    return {
        "of": run,
        "sentence": texts.text(run_texts.sentence(run)),
        "stale": texts.text(run_texts.stale(run)),
        "failed": [texts.text(line) for line in said[: len(said) - (site is not None)]],
        "site": site,
        "not_counted": texts.text(run_texts.not_counted(run)),
    }


def _finding(report: Report, run: RunDocument) -> tuple[FileReport, Finding, int] | None:
    """The finding at which a run failed, where the report still has it."""
    named = (run.get("failure") or {}).get("finding")
    if named is None:
        return None
    for file in report.files:
        for number, finding in enumerate(file.findings, 1):
            if (file.path, finding.rule, finding.span.line) == (named["path"], named["rule"], named["line"]):
                return file, finding, number
    return None
