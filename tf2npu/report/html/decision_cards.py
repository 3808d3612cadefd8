"""Decisions as cards: what is asked, what can be chosen, with the user's own code, and the places by folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from tf2npu.findings import Finding
from tf2npu.report.formats.render_context import Site, View
from tf2npu.report.html.listing import page_of_list
from tf2npu.report.model.counts import n_places
from tf2npu.report.model.file_parts import row_of
from tf2npu.report.model.report import FileReport, Lines
from tf2npu.report.work.choices import CHOICES, EDIT, SUPPRESS, changed_lines, choices_of, comment_of
from tf2npu.report.work.decisions import Decided, Decision
from tf2npu.report.work.labels import FAILED

CARDS = "decisions"
"""The name of the pages of cards."""
One = TypeVar("One", bound=Decision | Decided)
"""Anything that has a card."""
MOST_PLACES = 50
"""Places that a card lists: a screen or two. The list of findings has the rest."""
MOST_CARDS = 100
"""Cards of a page: more are not read at a time."""
_MOST_WEIGHT = 8_500
"""Elements of a page's cards, so that a page stays below the 10,000 that a browser lays out in half a second."""
_ELEMENTS_OF_A_CARD, _ELEMENTS_OF_A_PLACE = 80, 14
"""The most elements that a card takes without its places, and that a place takes with its folder."""
_MOST_CODE_LINES, _MOST_CODE_CHARACTERS = 12, 1_000
"""Lines and characters of an example: what one looks at to decide. The page of the file has all of it."""

_QUESTIONS = {
    FAILED: "Can this file be left unconverted?",
    "unsafe": "May values or shapes change here?",
    EDIT: "Shall this code be written instead?",
    "unsupported": "What takes its place on the NPU?",
    "manual": "Is this right on the NPU as it is, or does it change?",
}
"""Question of a card, by the kind of its decision."""


@dataclass(frozen=True)
class Example:
    """Code as it is and as a choice leaves it."""

    before: str
    after: str


@dataclass(frozen=True)
class Choice:
    """A choice for a card. n_places: that it settles; with `accept` always all.  is_unsafe: values may change."""

    name: str
    n_places: int
    example: Example | None = None
    is_unsafe: bool = False


@dataclass(frozen=True)
class Folder:
    """Places of a card in one folder. n_places: with those that are not shown."""

    name: str
    n_places: int
    sites: tuple[Site, ...]


@dataclass(frozen=True)
class Card:
    """A decision as its page shows it."""

    decision: Decision
    question: str
    choices: tuple[Choice, ...]
    beside: str = ""
    """Code of the first place that shows some which a person writes there or beside it, where it is no choice."""

    @property
    def n_more(self) -> int:
        return max(0, len(self.decision.sites) - MOST_PLACES)


def card_of(decision: Decision) -> Card:
    """The card of a decision, in English."""
    allowed = [choices_of(file, finding, lines_of(file.source)) for file, finding in decision.sites]
    choices = []
    for name in CHOICES:
        found = [site for site, names in zip(decision.sites, allowed, strict=True) if name in names]
        if found:
            is_unsafe = name == EDIT and any(finding.unsafe for _, finding in found)
            choices.append(Choice(name, n_places(finding for _, finding in found), _example(name, *found[0]), is_unsafe))
    names = {choice.name for choice in choices}
    beside = "" if EDIT in names else next((finding.after for _, finding in decision.sites if finding.after), "")
    return Card(decision, _question(decision, names), tuple(choices), _shortened(beside))


@lru_cache(maxsize=4)
def lines_of(source: str | None) -> Lines:
    """Lines of a file's source; findings come file by file."""
    return Lines(source or "")


def _question(decision: Decision, names: set[str]) -> str:
    if decision.label == FAILED:
        return _QUESTIONS[FAILED]
    return _QUESTIONS["unsafe" if decision.is_unsafe else EDIT if EDIT in names else decision.label]


def _example(choice: str, file: FileReport, finding: Finding) -> Example | None:
    """The first place that a choice fits, before and after."""
    if choice == EDIT:
        return Example(*map(_shortened, changed_lines(finding.before, finding.after)))
    if choice != SUPPRESS:
        return None
    lines = lines_of(file.source)
    row = row_of(file, finding.cell, finding.span.line)
    line = lines.line_text(row).strip() if row <= len(lines) else ""
    comment = f"# tf2npu: {comment_of(finding)}[{finding.rule}] ..."
    return Example(_shortened(line), f"{_shortened(line)}  {comment}".strip())


def _shortened(code: str) -> str:
    lines = code.splitlines()
    text = "\n".join(lines[:_MOST_CODE_LINES])[:_MOST_CODE_CHARACTERS]
    return text if text == "\n".join(lines) else f"{text} ..."


def folders(view: View, decision: Decision | Decided) -> list[Folder]:
    """The places by folder, in the order of paths: of each folder its number, and of the first places where they are."""
    found: dict[str, tuple[list[int], list[Site]]] = {}
    in_order = sorted(zip(decision.sites, decision.numbers, strict=True), key=lambda one: (one[0][0].path, one[1]))
    for shown, ((file, finding), number) in enumerate(in_order):
        counts, sites = found.setdefault(file.path.rpartition("/")[0], ([], []))
        counts.append(n_places([finding]))
        if shown < MOST_PLACES:
            sites.append(view.site(file, finding, number))
    return [Folder(name, sum(counts), tuple(sites)) for name, (counts, sites) in found.items() if sites]


def addresses(view: View) -> dict[str, str]:
    """The way from the report's folder to the card of each decision, by the decision's id."""
    pages = enumerate(packed(view.decisions), 1)
    return {one.id: f"{page_of_list(CARDS, number)}#d-{one.id}" for number, page in pages for one in page}


def packed(cards: Sequence[One]) -> list[list[One]]:
    """The cards of each page, at least one page; further cards at the end move none before them."""
    return list(_packed(cards)) or [[]]


def _packed(cards: Sequence[One]) -> Iterator[list[One]]:
    page: list[One] = []
    weight = 0
    for card in cards:
        own = _ELEMENTS_OF_A_CARD + _ELEMENTS_OF_A_PLACE * min(MOST_PLACES, len(card.sites))
        if page and (len(page) >= MOST_CARDS or weight + own > _MOST_WEIGHT):
            yield page
            page, weight = [], 0
        page.append(card)
        weight += own
    if page:
        yield page
