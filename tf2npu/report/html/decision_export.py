"""The data that the decisions page's script exports: each card's texts, and the fingerprints that each choice is made for.

The data are blocks that the page reads by `<script src>` once somebody exports, since a page from a file:// address may fetch
nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from npu_formats.escape import visible
from tf2npu.report.formats.render_context import View
from tf2npu.report.html.decision_cards import Card, lines_of
from tf2npu.report.html.listing import calls, script_json, shortened
from tf2npu.report.model.baseline import fingerprints
from tf2npu.report.model.counts import n_places
from tf2npu.report.model.report import FileReport
from tf2npu.report.work.choices import EDIT, SUPPRESS, choices_of

_BITS = {EDIT: 1, SUPPRESS: 2}
"""Choices for a finding beside accepting it, as bits of a number."""

_MOST_OF_AN_ITEM = 5_000
"""Findings of one item, so that it fits into a block: some 40 characters each."""


def blocks(view: View, cards: list[Card]) -> list[tuple[str, str]]:
    """(name, text) of the blocks, each below a megabyte."""
    items = [script_json(item) for item in _items(view, cards)]
    return [(f"data/decisions-{number}.js", text) for number, text in enumerate(calls("decisions", items), 1)]


def _items(view: View, cards: list[Card]) -> Iterator[list[Any]]:
    """A card's texts, then for each of its files the fingerprints, what can be chosen for each, and its number of places."""
    keys: dict[int, list[str]] = {}  # by the file itself: a report that somebody made may name a path twice
    for card in cards:
        one = card.decision
        said = shortened(visible(one.message))
        yield [one.id, one.facts.id, visible(one.facts.title), view.texts.text(card.question), said, one.n_places]
        of_file: dict[int, tuple[FileReport, list[int]]] = {}
        for (file, _), number in zip(one.sites, one.numbers, strict=True):
            of_file.setdefault(id(file), (file, []))[1].append(number)
        for key, (file, numbers) in of_file.items():
            if key not in keys:
                keys[key] = fingerprints(file)
            for start in range(0, len(numbers), _MOST_OF_AN_ITEM):
                yield _of_file(file, keys[key], numbers[start : start + _MOST_OF_AN_ITEM])


def _of_file(file: FileReport, keys: list[str], numbers: list[int]) -> list[Any]:
    findings = [file.findings[number - 1] for number in numbers]
    allowed = [sum(_BITS.get(name, 0) for name in choices_of(file, f, lines_of(file.source))) for f in findings]
    return [visible(file.path), [keys[number - 1] for number in numbers], allowed, [n_places([f]) for f in findings]]
