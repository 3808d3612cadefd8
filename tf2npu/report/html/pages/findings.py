"""The list of all findings."""

from __future__ import annotations

from collections.abc import Iterable

from tf2npu.findings import Finding, Level
from tf2npu.report.formats.render_context import View
from tf2npu.report.html.list_pages import list_pages
from tf2npu.report.html.listing import Badges, Code, Column, Link, Listing, Row, Rule, Said
from tf2npu.report.html.page_types import Page
from tf2npu.report.model.counts import SHOWN, n_places
from tf2npu.report.model.report import FileReport
from tf2npu.report.work.labels import LABELS, label_of_work

_COLUMNS = (
    Column("Place", "text"),
    Column("Level", "text"),
    Column("Rule", "text"),
    Column("API", "text"),
    Column("What it says"),
)
_REST = (Level.UNSUPPORTED, Level.MANUAL, Level.INFO, Level.FIXED, Level.SKIPPED)
"""Levels of findings that leave nothing to do: the first two where the baseline holds them."""


def pages(view: View) -> Iterable[Page]:
    found = [(file, finding, number) for file in view.report.files for number, finding in enumerate(file.findings, 1)]
    found.sort(key=_order)
    rows = [_row(view, *one) for one in found]
    listing = Listing(
        "findings", _COLUMNS, rows, "Level", tuple(level.value for level in Level), "path, rule, API or words",
        (SHOWN["findings"], SHOWN["places"]),
    )  # fmt: skip
    return list_pages(view, listing, "Findings", "A finding is what the converter says about a place.")


def _order(one: tuple[FileReport, Finding, int]) -> int:
    """The sort key of a finding: work, worst first, before the rest, worth knowing first; findings with one key stay in order."""
    file, finding, number = one
    label = "" if number - 1 in file.known else label_of_work(file, finding)
    return LABELS.index(label) if label else len(LABELS) + _REST.index(finding.level)


def _row(view: View, file: FileReport, finding: Finding, number: int) -> Row:
    page, _, anchor = view.page_of_finding(file, number).partition("#")
    cell = "" if finding.cell is None else f"cell {finding.cell}:"
    where = Link(file.path, f":{cell}{finding.span.line}:{finding.span.column}", page, anchor)
    facts = view.rules.of(finding)
    rule = Rule(finding.rule, f"rules.html#{facts.anchor}" if facts.anchor else "")
    words: tuple[tuple[str, int | None], ...] = ((finding.level.value, None),)
    if number - 1 in file.known:
        words = (*words, ("known", None))
    cells = (where, Badges(words), rule, Code(finding.api), Said(finding.message))
    return Row(cells, (finding.level.value,), 1, n_places([finding]))
