"""report.json: the report as data, to be rendered again or read by other programs. Its schema ships in the folder above."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from npu_formats.files.bounded_read import MOST_REPORT_BYTES, read_at_most
from tf2npu.config import EffortSettings
from tf2npu.findings import Answer, EntryScript, Finding, Level, Span
from tf2npu.report.errors import NotAReport
from tf2npu.report.model.apis import numbers
from tf2npu.report.model.counts import n_places
from tf2npu.report.model.document import ApiEntry, EffortEntry, EntryEntry, FileEntry, FindingEntry, Range, ReportDocument
from tf2npu.report.model.report import SCHEMA_VERSION, ApiRow, Change, Distribution, FileReport, HistoryEntry, Report
from tf2npu.report.work.summary import summarised

SCHEMA_FILE = Path(__file__).parents[1] / "report.schema.json"
_MOST_OF_A_REASON = 120
"""Characters of a reason that are shown: it may hold the wrong value, of any length."""
_VERSION = re.compile(r"[0-9]{1,9}\.[0-9]{1,9}\Z")


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
        **({"earlier_runs": report.earlier_runs} if report.earlier_runs else {}),
        **({"check": report.check} if report.check is not None else {}),
        **({"history": [_history_entry(entry) for entry in report.history]} if len(report.history) > 1 else {}),
    }
    yield json.dumps(document, indent=1).removesuffix("\n}")
    if report.entries:
        yield from lines("entries", map(_entry, report.entries))
    yield from lines("apis", map(_api, report.apis))
    yield from lines("files", map(_file, report.files))
    yield "\n}\n"


def lines(name: str, documents: Iterable[dict[str, Any]]) -> Iterator[str]:
    """A further key of an object whose value is a list with one element a line: ten times faster than with indentation."""
    yield f',\n "{name}": ['
    for number, document in enumerate(documents):
        yield f"{',' if number else ''}\n  {json.dumps(document)}"
    yield "\n ]"


def read(file: Path) -> Report:
    """The report that a file holds.  Raises: OSError; NotAReport."""
    return load(read_at_most(file, MOST_REPORT_BYTES))


def load(data: str | bytes) -> Report:
    """The report that `render` wrote.

    Raises: NotAReport for what is no report, is one of another major version, or holds a value that a report cannot hold.
    """
    document = _parsed(data)
    _check_version(document)
    typed = _typed(document)
    for number, file in enumerate(typed.files):
        _check_file(f"$.files[{number}]", file)
    return _report(typed, document)


def _parsed(data: str | bytes) -> dict[str, Any]:
    try:
        document = json.loads(data if isinstance(data, str) else data.decode("utf-8"))
    except RecursionError:
        raise NotAReport("it is not a tf2npu report: it is nested too deeply") from None
    except ValueError as error:
        raise NotAReport(f"it is not a tf2npu report: {str(error).partition(';')[0]}") from None
    if not isinstance(document, dict):
        raise NotAReport("it is not a tf2npu report: it is no JSON object")
    return document


def _typed(document: Any) -> ReportDocument:
    try:
        return msgspec.convert(document, ReportDocument)
    except msgspec.ValidationError as error:
        reason, at, where = str(error).rpartition(" - at ")
        raise NotAReport(f"it is not a tf2npu report: {reason[:_MOST_OF_A_REASON]}{at}{where}") from None
    except UnicodeEncodeError:  # msgspec does not look up half a character in the words of an enum; anything else says where
        return _typed(json.loads(json.dumps(document, ensure_ascii=False).encode("utf-8", "replace")))


def _check_version(document: dict[str, Any]) -> None:
    version = document.get("schema_version")
    if not isinstance(version, str) or not _VERSION.match(version):
        raise NotAReport("it is not a tf2npu report: `$.schema_version` is not a version such as 1.1")
    if version.split(".")[0] != SCHEMA_VERSION.split(".")[0]:
        raise NotAReport(f"it has schema version {version}, this tf2npu reads {SCHEMA_VERSION}")


def _check_file(where: str, file: FileEntry) -> None:
    """Checks what types do not say: the path leads to a file below SRC, no range ends before it begins.  Raises: NotAReport."""
    if not file.path or file.path.startswith("/") or ".." in file.path.split("/") or "\0" in file.path:
        raise NotAReport(f"it is not a tf2npu report: `{where}.path` is no path below SRC")
    ranges: tuple[tuple[str, Sequence[Range]], ...] = (("findings", file.findings), ("changes", file.changes))
    for key, entries in ranges:
        for number, entry in enumerate(entries):
            if (entry.end_line, entry.end_column) < (entry.line, entry.column):
                raise NotAReport(f"it is not a tf2npu report: `{where}.{key}[{number}]` ends before it begins")


def _summary(report: Report) -> dict[str, Any]:
    baseline = {"baseline": {"known": report.n_known, "stale": report.n_stale}} if report.n_known or report.n_stale else {}
    return {
        "headline": report.headline,
        "command": report.command,
        "files": report.statuses(),
        "findings": report.levels(),
        "places": {level.value: n_places(f for _, f in report.findings() if f.level is level) for level in Level},
        "distributed": {
            "mode": report.mode,
            "found": [{"kind": d.kind, "places": list(d.places)} for d in report.distributions],
        },
        "left_out": list(report.left_out),
        "api": numbers(report),
        **summarised(report),
        **baseline,
    }


def _history_entry(entry: HistoryEntry) -> dict[str, int]:
    minutes = {"minutes": entry.minutes} if entry.minutes is not None else {}
    return {"decisions": entry.decisions, "findings": entry.findings, "places": entry.places, **minutes}


def _entry(entry: EntryScript) -> dict[str, Any]:
    document = {"path": entry.path, "starts": entry.starts, "trains": entry.trains}
    started = {"runs": list(entry.runs), "folder": entry.folder} if entry.runs else {}
    return document | started | ({"arguments": list(entry.arguments)} if entry.arguments else {})


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


def _file(file: FileReport) -> dict[str, Any]:
    document: dict[str, Any] = {"path": file.path, "status": file.status.value}
    document["findings"] = [_finding(finding, number in file.known) for number, finding in enumerate(file.findings)]
    counts = {"references": file.references, "lines": file.lines, "imports": list(file.imports)}
    document |= {name: value for name, value in counts.items() if value}
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
    if finding.part:
        document["part"] = finding.part
    if finding.replaces:
        document["replaces"] = True
    if finding.unsafe:
        document["unsafe"] = True
    if is_known:
        document["known"] = True
    if finding.answer is not None:
        document["answer"] = dataclasses.asdict(finding.answer)
    return document


def _place(span: Span) -> dict[str, int]:
    return {
        "line": span.line, "column": span.column, "end_line": span.end_line, "end_column": span.end_column,
    }  # fmt: skip


def _report(document: ReportDocument, raw: dict[str, Any]) -> Report:
    summary = document.summary
    return Report(
        files=[_read_file(file) for file in document.files],
        command=summary.command,
        mode=summary.distributed.mode,
        distributions=tuple(Distribution(d.kind, tuple(d.places)) for d in summary.distributed.found),
        left_out=tuple(summary.left_out),
        tool_version=document.tool.version,
        n_stale=summary.baseline.stale,
        apis=tuple(_read_api(row) for row in document.apis),
        run=raw.get("run"),
        earlier_runs=raw.get("earlier_runs", []),
        check=raw.get("check"),
        history=tuple(HistoryEntry(e.decisions, e.findings, e.places, e.minutes) for e in document.history),
        entries=tuple(map(_read_entry, document.entries)),
        effort=_read_effort(summary.effort),
    )


def _read_entry(entry: EntryEntry) -> EntryScript:
    return EntryScript(entry.path, entry.starts, entry.trains, tuple(entry.runs), entry.folder, tuple(entry.arguments))


def _read_effort(entry: EffortEntry | None) -> EffortSettings:
    if entry is None:
        return EffortSettings()
    settings = entry.settings
    return EffortSettings(settings.low, settings.high, tuple((m.rule, m.first, m.further) for m in settings.minutes))


def _read_file(entry: FileEntry) -> FileReport:
    return FileReport(
        entry.path,
        entry.status,
        [_read_finding(finding) for finding in entry.findings],
        [Change(change.rule, change.span, change.new) for change in entry.changes],
        entry.source,
        entry.cell_lines,
        {number for number, finding in enumerate(entry.findings) if finding.known},
        entry.references,
        entry.lines,
        tuple(entry.imports),
    )


def _read_finding(entry: FindingEntry) -> Finding:
    texts = {name: getattr(entry, name) for name in ("message", "api", "before", "after", "doc")}
    answer = Answer(**msgspec.structs.asdict(entry.answer)) if entry.answer is not None else None
    found = Finding(entry.rule, entry.level, entry.span, cell=entry.cell, part=entry.part, **texts)
    return dataclasses.replace(found, replaces=entry.replaces, unsafe=entry.unsafe, answer=answer)


def _read_api(entry: ApiEntry) -> ApiRow:
    return ApiRow(entry.name, entry.verdict, entry.count, entry.files, tuple(entry.places), entry.rule, entry.note)
