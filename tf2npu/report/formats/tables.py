"""The report as tables, for spreadsheets: a row for each decision, finding, API, file and run. Names are those of report.json."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from npu_formats.whole_number import whole_number
from tf2npu.findings import Finding, Level
from tf2npu.report.formats.as_text import place
from tf2npu.report.languages.language import catalogue
from tf2npu.report.model.apis import numbers
from tf2npu.report.model.baseline import fingerprints
from tf2npu.report.model.counts import n_places
from tf2npu.report.model.report import FileReport, Report
from tf2npu.report.model.rule_facts import RuleTexts
from tf2npu.report.runs.evidence import Proofs
from tf2npu.report.runs.run_texts import lines as run_lines
from tf2npu.report.work.decisions import decisions

Cell = str | int | float | None
"""Value of a field: a text of any characters, a number, or nothing."""


@dataclass(frozen=True)
class Row:
    """Fields in the order of the columns.

    file: the one whose page shows the row.  number: of the finding there, from 1, or 0.  place: as the report names it, or "".
    """

    fields: tuple[Cell, ...]
    file: FileReport | None = None
    number: int = 0
    place: str = ""


@dataclass(frozen=True)
class Table:
    """A table and its rows, which are made when they are asked for.

    has_words: whether the columns are words for a reader, in that person's language, and not names of report.json.
    """

    name: str
    columns: tuple[str, ...]
    rows: Callable[[], Iterator[Row]]
    has_words: bool = False


def tables(report: Report) -> list[Table]:
    """All tables but the summary, in the order of sheets."""
    return [
        _decisions(report), findings(report), _apis(report), _analysis(report), _files(report), _runs(report),
    ]  # fmt: skip


def summary(report: Report) -> Iterator[tuple[str, Cell]]:
    """Names and values of what is said of the whole report."""
    texts = catalogue(report.language)
    yield "headline", texts.text(report.headline)
    yield from (("command", report.command), ("tool version", report.tool_version), ("mode", report.mode))
    yield from ((f"files {name}", number) for name, number in report.statuses().items())
    for level in Level:
        found = [finding for _, finding in report.findings() if finding.level is level]
        yield f"findings {level.value}", len(found)
        yield f"places {level.value}", n_places(found)
    yield from ((f"references {name}", number) for name, number in numbers(report).items())
    yield from (("baseline known", report.n_known), ("baseline stale", report.n_stale))
    yield "left out", "\n".join(report.left_out)


def findings(report: Report) -> Table:
    """Every finding, at its place, with what a run says of it."""
    columns = (
        "path", "cell", "line", "column", "end_line", "end_column", "level", "rule", "part", "title", "api", "message", "before",
        "after", "why", "known", "fingerprint", "mark", "evidence", "run",
    )  # fmt: skip

    def rows() -> Iterator[Row]:
        rules, proofs, texts = RuleTexts(report), Proofs(report), catalogue(report.language)
        for file in report.files:
            for number, (finding, fingerprint) in enumerate(zip(file.findings, fingerprints(file), strict=True)):
                facts, known = rules.of(finding), "yes" if number in file.known else ""
                span, said = finding.span, (finding.api, finding.message, finding.before, finding.after)
                where = (file.path, finding.cell, span.line, span.column, span.end_line, span.end_column)
                what = (finding.level.value, finding.rule, finding.part, facts.title)
                proof = proofs.of(file, finding)
                shown = (proof.state.value, texts.text(proof.text), proof.script) if proof is not None else ("", "", "")
                yield Row((*where, *what, *said, facts.why, known, fingerprint, *shown), file, number + 1)

    return Table("findings", columns, rows)


def _decisions(report: Report) -> Table:
    columns = ("label", "rule", "title", "message", "why", "findings", "places", "files", "first place", "after")

    def rows() -> Iterator[Row]:
        for one in decisions(report, RuleTexts(report)):
            file, finding = one.sites[0]
            said = (one.label, one.facts.id, one.facts.title, one.message, one.facts.why)
            counts = (len(one.sites), one.n_places, one.n_files)
            yield Row((*said, *counts, place(file.path, finding), finding.after), file, _number(file, finding))

    return Table("decisions", columns, rows)


def _number(file: FileReport, wanted: Finding) -> int:
    return next(number for number, finding in enumerate(file.findings, 1) if finding is wanted)


def _apis(report: Report) -> Table:
    columns = ("name", "verdict", "rule", "note", "count", "files", "places")

    def rows() -> Iterator[Row]:
        texts = catalogue(report.language)
        for row in report.apis:
            note = texts.text(row.note) if row.note else ""
            yield Row((row.name, row.verdict.value, row.rule, note, row.count, row.n_files, "\n".join(row.places)))

    return Table("APIs", columns, rows)


def _analysis(report: Report) -> Table:
    """The columns of the sheet that the vendor's converter writes, with whole paths: the first reference in each named file.

    Source: api_analysis_report.xlsx of the vendor's converter for TensorFlow 1.15.
    """
    columns = ("No.", "Script file", "Line", "Module", "API name", "Support", "Advice")

    def rows() -> Iterator[Row]:
        texts, by_path = catalogue(report.language), {file.path: file for file in report.files}
        number = 0
        for api in report.apis:
            for where in api.places:
                number += 1
                path, _, line = where.rpartition(":")
                module, _, name = api.name.rpartition(".")
                advice = " ".join(filter(None, (api.rule, texts.text(api.note) if api.note else "")))
                numbered = whole_number(line)
                shown = line if numbered is None else numbered
                yield Row((number, path, shown, module, name, api.verdict.value, advice), by_path.get(path), place=where)

    return Table("API analysis", columns, rows, has_words=True)


def _files(report: Report) -> Table:
    columns = ("path", "status", "findings", *(level.value for level in Level), "known")

    def rows() -> Iterator[Row]:
        for file in report.files:
            levels = [file.count(level) for level in Level]
            yield Row((file.path, file.status.value, len(file.findings), *levels, len(file.known)), file)

    return Table("files", columns, rows)


def _runs(report: Report) -> Table:
    columns = (
        "script", "exit_code", "device", "steps", "device_share", "uncounted_nodes", "recompilations", "sessions", "host nodes",
        "failure", "changed_files", "in words",
    )  # fmt: skip

    def rows() -> Iterator[Row]:
        texts = catalogue(report.language)
        for run in report.runs:
            failure, n_host = run.get("failure"), sum(host["count"] for host in run["host_nodes"])
            error = f"{failure['type']}: {failure['message']}" if failure is not None else ""
            counts = (run["steps"], run["device_share"], run.get("uncounted_nodes", 0), run["recompilations"])
            told = "\n".join(texts.text(line.strip()) for line in run_lines(run))
            changed = "\n".join(run.get("changed_files", ()))
            start = (run["script"], run["exit_code"], run["device"])
            yield Row((*start, *counts, len(run["sessions"]), n_host, error, changed, told))

    return Table("runs", columns, rows)
