"""report.json: the report as data, to be rendered again or read by other programs. Its schema ships beside this file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tf2npu.findings import Finding, Level, Span, Status, Verdict
from tf2npu.report.apis import numbers
from tf2npu.report.model import SCHEMA_VERSION, ApiRow, Change, Distribution, FileReport, Report

SCHEMA_FILE = Path(__file__).parent / "report.schema.json"


class NotAReport(Exception):
    """A file is not a report that this version can read; the text says why."""


def render(report: Report) -> str:
    """The report as JSON text; pure ASCII, since file names and source may hold what UTF-8 cannot."""
    return "".join(pieces(report))


def pieces(report: Report) -> Iterator[str]:
    """The same text piece by piece, a line for each file, so that a large report is never in memory as a whole."""
    document = {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "tf2npu", "version": report.tool_version},
        "summary": _summary(report),
        **({"run": report.run} if report.run is not None else {}),
    }
    yield json.dumps(document, indent=1).removesuffix("\n}")
    yield from lines("apis", map(_api, report.apis))
    yield from lines("files", map(_file, report.files))
    yield "\n}\n"


def lines(name: str, documents: Iterable[dict[str, Any]]) -> Iterator[str]:
    """A further key of an object whose value is a list with one element a line: ten times faster than with indentation."""
    yield f',\n "{name}": ['
    for number, document in enumerate(documents):
        yield f"{',' if number else ''}\n  {json.dumps(document)}"
    yield "\n ]"


def load(text: str) -> Report:
    """The report that `render` wrote.

    Raises: NotAReport for text that is no report, or one of another major version.
    """
    try:
        document = json.loads(text)
        version = document["schema_version"]
        if version.split(".")[0] != SCHEMA_VERSION.split(".")[0]:
            raise NotAReport(f"it has schema version {version}, this tf2npu reads {SCHEMA_VERSION}")
        return _report(document)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise NotAReport(f"it is not a tf2npu report ({type(error).__name__}: {error})") from None


def _summary(report: Report) -> dict[str, Any]:
    baseline = {"baseline": {"known": report.n_known, "stale": report.n_stale}} if report.n_known or report.n_stale else {}
    return {
        "headline": report.headline,
        "command": report.command,
        "files": report.statuses(),
        "findings": report.levels(),
        "distributed": {
            "mode": report.mode,
            "found": [{"kind": d.kind, "places": list(d.places)} for d in report.distributions],
        },
        "left_out": list(report.left_out),
        "api": numbers(report),
        **baseline,
    }


def _api(row: ApiRow) -> dict[str, Any]:
    return {
        "name": row.name,
        "verdict": row.verdict.value,
        "rule": row.rule,
        "note": row.note,
        "count": row.count,
        "files": row.n_files,
        "places": list(row.places),
    }


def _read_api(document: dict[str, Any]) -> ApiRow:
    verdict, places = Verdict(document["verdict"]), tuple(document["places"])
    n_files = int(document["files"])
    return ApiRow(document["name"], verdict, int(document["count"]), n_files, places, document["rule"], document["note"])


def _file(file: FileReport) -> dict[str, Any]:
    document: dict[str, Any] = {"path": file.path, "status": file.status.value}
    document["findings"] = [_finding(finding, number in file.known) for number, finding in enumerate(file.findings)]
    if file.changes:
        document["changes"] = [{"rule": c.rule, **_place(c.span), "new": c.new} for c in file.changes]
    if file.cell_lines:
        document["cell_lines"] = file.cell_lines
    if file.source is not None:
        document["source"] = file.source
    return document


def _finding(finding: Finding, is_known: bool) -> dict[str, Any]:
    document: dict[str, Any] = {
        "rule": finding.rule,
        "level": finding.level.value,
        "api": finding.api,
        **_place(finding.span),
        "message": finding.message,
        "before": finding.before,
        "after": finding.after,
        "doc": finding.doc,
    }
    if finding.cell is not None:
        document["cell"] = finding.cell
    if is_known:
        document["known"] = True
    return document


def _place(span: Span) -> dict[str, int]:
    return {
        "line": span.line, "column": span.column, "end_line": span.end_line, "end_column": span.end_column,
    }  # fmt: skip


def _report(document: dict[str, Any]) -> Report:
    summary = document["summary"]
    distributed = summary["distributed"]
    return Report(
        files=[_read_file(file) for file in document["files"]],
        command=summary["command"],
        mode=distributed["mode"],
        distributions=tuple(Distribution(d["kind"], tuple(d["places"])) for d in distributed["found"]),
        left_out=tuple(summary["left_out"]),
        tool_version=document["tool"]["version"],
        n_stale=summary.get("baseline", {}).get("stale", 0),
        apis=tuple(_read_api(row) for row in document.get("apis", ())),
        run=document.get("run"),
    )


def _read_file(document: dict[str, Any]) -> FileReport:
    return FileReport(
        document["path"],
        Status(document["status"]),
        [_read_finding(finding) for finding in document["findings"]],
        [Change(c["rule"], _read_place(c), c["new"]) for c in document.get("changes", ())],
        document.get("source"),
        list(document.get("cell_lines", ())),
        {number for number, finding in enumerate(document["findings"]) if finding.get("known")},
    )


def _read_finding(document: dict[str, Any]) -> Finding:
    texts = {name: str(document[name]) for name in ("message", "api", "before", "after", "doc")}
    return Finding(document["rule"], Level(document["level"]), _read_place(document), cell=document.get("cell"), **texts)


def _read_place(document: dict[str, Any]) -> Span:
    return Span(*(int(document[name]) for name in ("line", "column", "end_line", "end_column")))
