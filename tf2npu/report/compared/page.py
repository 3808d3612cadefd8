"""Two reports beside each other as one web page, which needs nothing but itself and has no script."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup

from npu_formats.escape import visible
from tf2npu import report
from tf2npu.report.compared.comparison import REASONS, Comparison, Group, Work, by_reason, grouped
from tf2npu.report.compared.sentences import HEADINGS, caveats, sentence, work_left_in_words
from tf2npu.report.formats.as_text import place
from tf2npu.report.html.code_table import seen, told
from tf2npu.report.html.content_policy import hash_source
from tf2npu.report.languages.language import catalogue, template_in
from tf2npu.report.model.counts import counted_findings

_FILES = Path(report.__file__).parent / "htmlfiles"
_TEMPLATE = "compared.html"
MOST_SITES = 1_500
"""Places that the page lists in all: with their elements it stays below 10,000, and compare.json has every one."""
MOST_CARDS = 300
"""Sentences that the page lists in all: more are not read, and a card has ten elements."""
_MOST_CHARACTERS = 400
"""Characters of a path or a sentence: 1,500 longer ones would make a page of more than 1 MB."""


@dataclass(frozen=True)
class Site:
    """A place, and where it was in the earlier report; "" where it has not moved."""

    place: str
    was: str = ""


@dataclass(frozen=True)
class Card:
    """One sentence and its places.  left: places that there was no room for."""

    label: str
    rule: str
    title: str
    message: str
    counted: str
    sites: list[Site]
    left: int


@dataclass(frozen=True)
class Part:
    """The new, the moved or the closed findings.  reasons: how often each, in words.

    n_cards_left: sentences that there was no room for.
    """

    name: str
    heading: str
    n_findings: int
    cards: list[Card]
    reasons: list[tuple[int, str]]
    n_cards_left: int


def render(found: Comparison) -> str:
    """The page; the same for the same two reports."""
    style = (_FILES / "assets" / "report.css").read_text(encoding="utf-8")
    language = found.after.language
    texts = catalogue(language)
    context: dict[str, Any] = {
        "policy": f"default-src 'none'; style-src {hash_source(style)}; img-src data:; base-uri 'none'; form-action 'none'",
        "style": Markup(style),
        "version": found.after.tool_version,
        "sentence": texts.text(sentence(found)),
        "work_left": texts.text(work_left_in_words(found)),
        "caveats": [texts.text(caveat) for caveat in caveats(found)],
        "parts": list(_parts(found)),
    }
    return _environment(language).get_template(_TEMPLATE).render(context)


def _environment(language: str) -> Environment:
    source = template_in((_FILES / _TEMPLATE).read_text(encoding="utf-8"), language)
    environment = Environment(
        loader=DictLoader({_TEMPLATE: source}), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"seen": seen, "told": told, "plain": visible, "word": catalogue(language).word}
    return environment


def _parts(found: Comparison) -> Iterator[Part]:
    texts, room, card_room = catalogue(found.after.language), MOST_SITES, MOST_CARDS
    was = {pair.after.key: place(pair.before.file.path, pair.before.finding) for pair in found.moved}
    lists = {"new": found.new, "moved": [pair.after for pair in found.moved], "closed": [each.work for each in found.closed]}
    for name, works in lists.items():
        cards, groups = [], grouped(works)
        for group in groups[:card_room]:
            cards.append(_card(group, was, found.after.language, room))
            room -= len(cards[-1].sites)
        card_room -= len(cards)
        counts = by_reason(found.closed) if name == "closed" else {}
        reasons = [(number, texts.text(REASONS[reason])) for reason, number in counts.items()]
        yield Part(name, texts.text(HEADINGS[name]), len(works), cards, reasons, len(groups) - len(cards))


def _card(group: Group, was: dict[str, str], language: str, room: int) -> Card:
    texts, shown = catalogue(language), group.sites[: max(room, 0)]
    counted = texts.text(counted_findings(len(group.sites), group.n_places))
    sites = [_site(work, was) for work in shown]
    return Card(
        group.label, _cut(group.facts.id), group.facts.title, _cut(group.message), counted, sites, len(group.sites) - len(shown)
    )


def _site(work: Work, was: dict[str, str]) -> Site:
    return Site(_cut(place(work.file.path, work.finding)), _cut(was.get(work.key, "")))


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]} ... ({len(text) - _MOST_CHARACTERS})"
