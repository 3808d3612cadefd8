"""The decisions that are left, as cards to answer, worst first; then those that people have made."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from tf2npu.file_findings import REFUSED_DECISION, STALE_DECISION
from tf2npu.findings import Level
from tf2npu.report.formats.render_context import View
from tf2npu.report.html.decision_cards import CARDS, MOST_PLACES, Card, card_of, folders, packed
from tf2npu.report.html.decision_export import blocks
from tf2npu.report.html.listing import page_of_list
from tf2npu.report.html.page_types import Page
from tf2npu.report.work.decisions import Decided, Decision, decided, report_id
from tf2npu.report.work.effort import shown_minutes
from tf2npu.report.work.labels import LABELS

_OPTIONAL = (
    "Cards at the end that can be left: {}. The converter makes their fixes if they are chosen, as values or shapes may change."
)
_SAID = {
    "decided": "# of # decided, # ticked",
    "lost": "This browser keeps nothing for this page: export your answers before you leave it.",
    "nothing": "Nothing is decided yet.",
    "failed": "The data of this report cannot be read: its folder data/ has to lie beside this page.",
}
"""Messages that the page's script shows about the answers; it fills in the numbers."""


def pages(view: View) -> Iterator[Page]:
    """The pages of cards, and the data that their script exports."""
    cards = [card_of(decision) for decision in [*view.decisions, *view.optional]]
    by_id = {card.decision.id: card for card in cards}
    every: list[Decision | Decided] = [*view.decisions, *view.optional, *decided(view.report, view.rules)]
    pages = packed(every)
    data = blocks(view, cards)
    about = {
        "labels": [*LABELS, *([Level.INFO.value] if view.optional else [])], "n_pages": len(pages),
        "report_id": report_id(view.report), "data": [name for name, _ in data],
        "page_of_list": page_of_list, "n_cards": len(cards), "untold": _untold(view),
        "optional": view.texts.text(_OPTIONAL.format(len(view.optional))) if view.optional else "",
        "told_by_script": {name: view.texts.text(text) for name, text in _SAID.items()},
    }  # fmt: skip
    for number, shown in enumerate(pages, 1):
        yield Page(page_of_list(CARDS, number), "pages/decisions.html", partial(_context, view, about, by_id, shown, number))
    for name, text in data:
        yield Page(name, "", partial(dict, text=text))


def _context(
    view: View, about: dict[str, Any], by_id: dict[str, Card], shown: list[Decision | Decided], number: int
) -> dict[str, Any]:
    cards = [
        (by_id[one.id], view.texts.text(by_id[one.id].question), _minutes(view, one), folders(view, one))
        for one in shown
        if isinstance(one, Decision)
    ]
    done = [(one, folders(view, one), max(0, len(one.sites) - MOST_PLACES)) for one in shown if isinstance(one, Decided)]
    return {**about, "cards": cards, "done": done, "number": number}


def _minutes(view: View, decision: Decision) -> str:
    """The minutes that a decision costs, where the settings have some."""
    minutes = shown_minutes(decision, view.report.effort)
    return view.texts.text(minutes) if minutes else ""


def _untold(view: View) -> list[tuple[str, str]]:
    """The rules of the findings that tell of decisions which were not carried out, with a sentence on how many there are."""
    rules = [finding.rule for _, finding in view.report.findings()]
    stale, refused = rules.count(STALE_DECISION.id), rules.count(REFUSED_DECISION.id)
    said = [(STALE_DECISION.id, f"Decisions that fit no more: {stale}.")] if stale else []
    said += [(REFUSED_DECISION.id, f"Decisions that were not carried out: {refused}.")] if refused else []
    return [(rule, view.texts.text(sentence)) for rule, sentence in said]
