"""The report on a terminal: a verdict, a table, the sentences under their places, and what to do next.

Only a person reads it. A pipe gets the lines of as_text, whatever this module draws.
"""

from __future__ import annotations

from pathlib import Path
from typing import TextIO

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.style import Style
from rich.table import Table
from rich.text import Text

from npu_formats.console import console
from npu_formats.escape import visible
from tf2npu.findings import Level
from tf2npu.report.formats.as_text import LABEL_STYLES, STYLES, place
from tf2npu.report.languages.language import Catalogue, catalogue
from tf2npu.report.model.apis import sentence
from tf2npu.report.model.counts import n_places
from tf2npu.report.model.report import Report
from tf2npu.report.work.decisions import Decision, who_decided
from tf2npu.report.work.labels import LABELS
from tf2npu.report.work.overview import Outlook, Step

MOST_DECISIONS = 5
"""Decisions that are shown unless all are asked for: with three lines each they leave the verdict on the screen."""


def show(report: Report, headline: str, outlook: Outlook, stream: TextIO, *, shows_all: bool = False) -> None:
    """Draw a report, which is in its language. shows_all: every decision with every place of it."""
    screen, texts = console(stream), catalogue(report.language)
    _put(screen, Text(texts.text(outlook.verdict), "bold"))
    _put(screen, Text(visible(texts.text(headline))))
    screen.print()
    screen.print(_levels(report, outlook, texts))
    _put(screen, Text(texts.text(sentence(report)), "dim"))
    if told := who_decided(report):
        _put(screen, Text(visible(texts.text(told)), "dim"))
    shown = outlook.left if shows_all else outlook.left[:MOST_DECISIONS]
    if shown:
        screen.print()
        _put(screen, Text(texts.text("Left to do:"), "bold"))
    for decision in shown:
        _decision(screen, decision, texts, shows_all)
    if len(outlook.left) > len(shown):
        more = texts.counted(len(outlook.left) - len(shown), "more decision")
        _put(screen, Text(f"{more}: {texts.text('the report has all, and so has -v.')}", "dim"))
    _steps(screen, outlook.steps, texts)


def show_report_path(path: Path, stream: TextIO, language: str = "en") -> None:
    """Name the report; where a terminal can, the path is a link to it."""
    link = Text(visible(str(path)), Style(link=path.absolute().as_uri()))
    console(stream).print(Text(f"{catalogue(language).text('report:')} ").append_text(link), soft_wrap=True)


def _put(screen: Console, text: RenderableType, indent: int = 0) -> None:
    screen.print(Padding(text, (0, 0, 0, indent)) if indent else text)


def _levels(report: Report, outlook: Outlook, texts: Catalogue) -> Table:
    """A row for each level that is there: decisions of work, and places."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.add_column(texts.text("level"), overflow="fold")
    for name in ("decisions", "places"):
        table.add_column(texts.text(name), justify="right", no_wrap=True)
    for label in LABELS:
        left = [decision for decision in outlook.left if decision.label == label]
        if left:
            places = sum(decision.n_places for decision in left)
            table.add_row(Text(texts.word(label), _style(label)), str(len(left)), str(places))
    for level in (Level.FIXED, Level.SKIPPED, Level.INFO):
        found = [finding for file in report.files for finding in file.findings if finding.level is level]
        if found:
            name = texts.text(report.outcome(level.value)) if level is Level.FIXED else texts.word(level.value)
            table.add_row(Text(name, _style(level.value)), "", str(n_places(found)))
    return table


def _style(label: str) -> str:
    return LABEL_STYLES.get(label) or STYLES[Level(label)]


def _decision(screen: Console, decision: Decision, texts: Catalogue, shows_all: bool) -> None:
    """Places first, each whole on its line so that it can be clicked or copied; what is said of them is below, once."""
    sites = [Text(place(file.path, finding)) for file, finding in decision.sites[: None if shows_all else 1]]
    if (left := decision.n_places - len(sites)) > 0 and not shows_all:
        sites[-1].append(f" {texts.text(f'and {left} more')}", "dim")
    for site in sites:
        screen.print(site, soft_wrap=True)
    head = Text.assemble((texts.word(decision.label), _style(decision.label)), f" {visible(decision.facts.id)} ")
    _put(screen, head.append(visible(decision.message)), indent=2)


def _steps(screen: Console, steps: list[Step], texts: Catalogue) -> None:
    if not steps:
        return
    screen.print()
    _put(screen, Text(texts.text("Next:"), "bold"))
    for number, step in enumerate(steps, 1):
        _put(screen, Text(f"{number}. {visible(texts.text(step.sentence))}"))
        if step.command:
            screen.print(Text(f"   {visible(step.command)}", "bold"), soft_wrap=True)
