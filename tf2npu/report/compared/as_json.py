"""Two reports beside each other as data. compare.schema.json of the report says to other programs what it holds."""

from __future__ import annotations

import json
from typing import Any

from tf2npu.report.compared.comparison import Comparison, Work
from tf2npu.report.compared.sentences import work_left
from tf2npu.report.model.report import Report
from tf2npu.report.work.labels import label_of_work

VERSION = "1.0"
"""Version of the format; a later minor one only adds keys."""


def render(found: Comparison) -> str:
    """The comparison as JSON text; pure ASCII, since names of files may hold what UTF-8 cannot."""
    return json.dumps(_document(found), indent=1) + "\n"


def _document(found: Comparison) -> dict[str, Any]:
    return {
        "schema_version": VERSION,
        "tool": {"name": "tf2npu", "version": found.after.tool_version},
        "before": _side(found.before),
        "after": _side(found.after),
        "counts": {
            "new": len(found.new), "closed": len(found.closed), "moved": len(found.moved), "stayed": found.n_stayed,
            "left": found.n_left,
        },
        "new": [_work(work) for work in found.new],
        "closed": [{**_work(each.work), "reason": each.reason} for each in found.closed],
        "moved": [{**_work(pair.after), "was": _place(pair.before)} for pair in found.moved],
    }  # fmt: skip


def _side(report: Report) -> dict[str, Any]:
    """The properties of one of the two reports that tell it from the other."""
    n_decisions, n_places = work_left(report)
    n_work = sum(1 for file in report.files for finding in file.new_findings() if label_of_work(file, finding))
    return {
        "tool_version": report.tool_version, "command": report.command, "mode": report.mode, "files": len(report.files),
        "work": n_work, "known": report.n_known, "decisions": n_decisions, "places": n_places,
    }  # fmt: skip


def _work(work: Work) -> dict[str, Any]:
    finding = work.finding
    said = {"rule": finding.rule, "label": work.label, "message": finding.message, "api": finding.api}
    return {**_place(work), **said, "before": finding.before, "after": finding.after, "fingerprint": work.key}


def _place(work: Work) -> dict[str, Any]:
    finding = work.finding
    cell = {"cell": finding.cell} if finding.cell is not None else {}
    return {"path": work.file.path, **cell, "line": finding.span.line, "column": finding.span.column}
