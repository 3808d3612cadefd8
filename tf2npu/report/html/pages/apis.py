"""The list of the APIs that the project refers to or a finding names, those used most first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tf2npu.findings import Level, Verdict
from tf2npu.report.formats.render_context import View
from tf2npu.report.html.legend import source_of_verdict
from tf2npu.report.html.list_pages import list_pages
from tf2npu.report.html.listing import Badges, Code, Column, Link, Listing, Row, Rule, Said
from tf2npu.report.html.one_file import in_order
from tf2npu.report.html.page_types import Page
from tf2npu.report.model.counts import SHOWN
from tf2npu.report.model.report import WORK_LEVELS, ApiRow

_COLUMNS = (
    Column("API", "text"), Column("Count", "number"), Column("Verdict", "text"), Column("Where the verdict comes from"),
    Column("Rule", "text"), Column("What was done"), Column("What to know"), Column("What to write"),
    Column("First place", "text"),
)  # fmt: skip
_SEEN_COLUMN = Column("Seen in runs")
_SEEN = "Seen in runs: nodes that the lines of an API made, and where they ran; APIs of one line share its nodes."


def pages(view: View) -> Iterable[Page]:
    columns = (*_COLUMNS, _SEEN_COLUMN) if view.report.runs else _COLUMNS
    listing = Listing(
        "apis", columns, _rows(view), "Verdict", tuple(verdict.value for verdict in Verdict), "name of an API",
        (SHOWN["apis"], SHOWN["apis"]),
    )  # fmt: skip
    return list_pages(view, listing, "APIs", _SEEN if view.report.runs else "")


def _rows(view: View) -> list[Row]:
    done: dict[str, Counter[Level]] = {}
    code: dict[str, str] = {}
    first: dict[str, Link] = {}
    for file in view.report.files:
        for number, finding in enumerate(file.findings, 1):
            if finding.api:
                name = finding.api.replace("()", "")
                done.setdefault(name, Counter())[finding.level] += 1
                if finding.level in WORK_LEVELS and finding.after and "\n" not in finding.after:
                    code.setdefault(name, finding.after)
                if name not in first:
                    page, _, anchor = view.page_of_finding(file, number).partition("#")
                    first[name] = Link(file.path, f":{finding.span.line}:{finding.span.column}", page, anchor)
    known = {row.name for row in view.report.apis}
    only_found = [ApiRow(name, Verdict.UNKNOWN, sum(n.values()), 0) for name, n in done.items() if name not in known]
    rows = sorted([*view.report.apis, *only_found], key=lambda row: (-row.count, row.name, row.note))
    return [
        _row(view, row, done.get(row.name, Counter()), code.get(row.name, ""), first.get(row.name) or _first_use(view, row))
        for row in rows
    ]


def _row(view: View, row: ApiRow, done: Counter[Level], code: str, first: Link) -> Row:
    """code: of one line, for the first place that a person has to change."""
    verdict = row.verdict.value if row.n_files else ""  # only a finding names it: no API of TensorFlow
    anchor = view.rules.anchor(row.rule) if row.rule else ""
    source = view.texts.text(source_of_verdict(row.name)) if verdict else ""
    cells = (
        Code(row.name), row.count, Badges(((verdict, None),) if verdict else ()), Said(source),
        Rule(row.rule, f"rules.html#{anchor}" if anchor else ""), Badges(tuple(in_order(done).items())),
        Said(view.texts.text(row.note)),
        Code(code), first,
    )  # fmt: skip
    seen = (Said(view.seen_apis.of(row.name, view.texts)),) if view.report.runs else ()
    return Row((*cells, *seen), (verdict,))


def _first_use(view: View, row: ApiRow) -> Link:
    """The first reference, with the line on its file's page; of a notebook the page."""
    place = row.places[0] if row.places else ""
    page, _, anchor = view.href_of_place(place).partition("#")
    return Link(place, "", page, anchor)
