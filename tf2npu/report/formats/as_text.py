"""The report as lines for a terminal or a log: what is left to do first, then everything by file, then totals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TextIO

from npu_formats.escape import visible
from tf2npu.findings import Finding, Level
from tf2npu.report.languages.language import catalogue
from tf2npu.report.model.apis import sentence
from tf2npu.report.model.counts import counted_findings, n_places
from tf2npu.report.model.report import WORK_LEVELS, FileReport, Report
from tf2npu.report.model.rule_facts import RuleIds
from tf2npu.report.runs.check_texts import lines as check_lines
from tf2npu.report.runs.evidence import Proofs, in_words
from tf2npu.report.runs.run_texts import lines as run_lines
from tf2npu.report.work.decisions import decisions, who_decided
from tf2npu.report.work.labels import FAILED

STYLES = {
    Level.UNSUPPORTED: "bold red",
    Level.MANUAL: "bold yellow",
    Level.FIXED: "green",
    Level.SKIPPED: "dim",
    Level.INFO: "cyan",
}
LABEL_STYLES = {"failed": "bold red", "known": "dim"}
"""Styles on a terminal of the labels that are no levels."""


@dataclass(frozen=True)
class Line:
    """A line of text and the style it has on a terminal."""

    text: str
    style: str = ""


def render(report: Report) -> str:
    """The whole report as plain text."""
    return "".join(f"{line.text}\n" for line in full(report))


def full(report: Report) -> Iterator[Line]:
    """Every finding: the work that is left first, then all by file, then the totals."""
    yield Line(visible(report.headline), "bold")
    proofs = Proofs(report)
    left = list(work_left(report, proofs))
    if left:
        yield from (Line(""), Line("Left to do:", "bold"), *left)
    for file in report.files:
        rest = [finding for finding in file.new_findings() if finding.level not in WORK_LEVELS]
        if rest:
            yield Line("")
            yield Line(f"{visible(file.path)} ({report.outcome(file.status.value)})", "bold")
            yield from finding_lines(report, file, rest, proofs=proofs)
    known = [line for file in report.files for line in finding_lines(report, file, _known(file), "known", proofs)]
    if known:
        yield from (Line(""), Line("Known (in the baseline):", "bold"), *known)
    for run in report.runs:
        yield from (Line(""), Line("Run on the simulated device:", "bold"))
        yield from (Line(visible(text)) for text in run_lines(run))
    if report.check is not None:
        yield from (Line(""), Line("Check of the accuracy:", "bold"))
        yield from (Line(visible(text)) for text in check_lines(report.check))
    yield Line("")
    yield from totals(report)


def brief(report: Report, *, most: int = 20) -> Iterator[Line]:
    """The first findings that need a person, and the totals."""
    yield Line(visible(report.headline), "bold")
    left = list(work_left(report))
    yield from left[:most]
    if len(left) > most:
        yield Line(f"... and {counted(len(left) - most, 'finding')} more: see the report", "bold")
    yield from totals(report)


def work_left(report: Report, proofs: Proofs | None = None) -> Iterator[Line]:
    """A line for each finding that needs a person, decision by decision.  proofs: what runs say of them."""
    for decision in decisions(report, RuleIds()):
        label = decision.label if decision.label == FAILED else ""
        for _, sites in groupby(decision.sites, key=lambda site: site[0].path):
            found = list(sites)
            yield from finding_lines(report, found[0][0], [finding for _, finding in found], label, proofs)


def finding_lines(
    report: Report, file: FileReport, findings: Iterable[Finding], label: str = "", proofs: Proofs | None = None
) -> Iterator[Line]:
    """Each finding as "path:line:column: level RULE message", the form that editors and CI logs turn into links.

    What was said before about the same file has a line for its place, too, which names the place where it was said. What a run
    says of the finding stands behind it in brackets.
    """
    texts = catalogue(report.language)
    said: dict[tuple[str, Level, str], str] = {}
    for finding in findings:
        first = said.setdefault((finding.rule, finding.level, finding.message), _place_in_file(finding))
        is_first = first == _place_in_file(finding)
        text = visible(finding.message) if is_first else texts.text(f"as at {first}")
        told = in_words(proofs.of(file, finding) if proofs is not None else None, texts)
        yield Line(
            f"{place(file.path, finding)}: {label or finding.level.value} {visible(finding.rule)} {text}"
            + (f" [{visible(told)}]" if told else ""),
            LABEL_STYLES.get(label) or STYLES[finding.level],
        )


def _known(file: FileReport) -> list[Finding]:
    return [file.findings[number] for number in sorted(file.known)]


def place(path: str, finding: Finding) -> str:
    """`path:line:column`, with the cell in between for notebooks."""
    return f"{visible(path)}:{_place_in_file(finding)}"


def _place_in_file(finding: Finding) -> str:
    cell = f"cell {finding.cell}:" if finding.cell is not None else ""
    return f"{cell}{finding.span.line}:{finding.span.column}"


def totals(report: Report) -> Iterator[Line]:
    """Three lines with numbers, and one for what was left out."""
    yield Line(f"{counted(len(report.files), 'file')}: {_numbers(report, report.statuses())}")
    levels, found = report.levels(), [finding for _, finding in report.findings()]
    yield Line(f"{counted_findings(len(found), n_places(found))}: {_numbers(report, levels)}")
    yield Line(sentence(report))
    if report.n_known or report.n_stale:
        stale = f"; {report.n_stale} of its entries fit nothing any more: --write-baseline drops them" if report.n_stale else ""
        yield Line(f"{counted(report.n_known, 'finding')} known from the baseline{stale}")
    if told := who_decided(report):
        yield Line(told)
    if report.left_out:
        yield Line(f"not converted, not copied: {', '.join(visible(folder) for folder in report.left_out)}")


def report_line(path: Path, language: str) -> str:
    """The line that says where a report is."""
    return f"{catalogue(language).text('report:')} {visible(str(path))}"


def show(lines: Iterable[Line], stream: TextIO) -> None:
    """Write the lines: coloured on a terminal, plain anywhere else, and without anything that a terminal would obey."""
    if not stream.isatty():
        for line in lines:
            stream.write(f"{visible(line.text)}\n")
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(file=stream, highlight=False)
    for line in lines:
        console.print(Text(visible(line.text), style=line.style), soft_wrap=True)


def _numbers(report: Report, counts: dict[str, int]) -> str:
    return ", ".join(f"{number} {report.outcome(name)}" for name, number in counts.items() if number) or "none"


def counted(number: int, noun: str) -> str:
    """The number with its noun in the right form."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
