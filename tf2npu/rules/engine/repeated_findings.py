"""Findings that repeat in a file: said at the first place, with the lines of the others."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from tf2npu.findings import Finding, Level
from tf2npu.rules import hooks
from tf2npu.rules.base import registered

TAIL = " The file has {} such places; the others: {}."
"""Last sentence of a message that stands at the first of several places: their number, and the other lines."""
_TOLD = re.compile(TAIL.removesuffix(".").format(r"\d+", r"(?P<others>(?:cell \d+:)?\d+(?:, (?:cell \d+:)?\d+)*)") + r"\.$")
_MOST = 20
"""The most places that a message names: more are not read."""


@hooks.summary
def said_once(findings: list[Finding]) -> list[Finding]:
    """Findings of a file, sorted, with those that say the same told at the first of them, which names the places of the others.

    Remarks of level info are told once whatever rule they come from. What a person has to do is so only for rules that are
    declared with `once=True`: with the others each place is to be looked at by itself.
    """
    rules = _told_once()
    alike: dict[object, list[Finding]] = {}
    for number, finding in enumerate(findings):
        is_work = finding.level in (Level.MANUAL, Level.UNSUPPORTED)
        is_once = finding.level is Level.INFO or (is_work and finding.rule in rules)
        key = (finding.rule, finding.level, finding.message, finding.unsafe) if is_once else number
        alike.setdefault(key, []).append(finding)
    return [replace(first, message=first.message + _also_at(first, others)) for first, *others in alike.values()]


@lru_cache(maxsize=1)
def _told_once() -> frozenset[str]:
    """Rules whose work, where it is the same at several places of a file, is told at the first."""
    return frozenset(part.id for parts in registered().values() for part in parts if part.once)


def _also_at(first: Finding, others: list[Finding]) -> str:
    """The end of a message that is told at the first of several places: their number, and the others; "" for one place."""
    places = list(dict.fromkeys(place for f in others if (place := _place(f)) != _place(first)))
    named = ", ".join(places[:_MOST]) + (", ..." if len(places) > _MOST else "")
    return TAIL.format(len(places) + 1, named) if places else ""


def other_places(message: str) -> tuple[str, list[tuple[int | None, int]]]:
    """A message without the places that `said_once` added, and these: the cell, in a notebook, and the line of each.

    A message that does not name all of them stays as it is.
    """
    told = _TOLD.search(message)
    if told is None:
        return message, []
    places = [place.rpartition(":") for place in told["others"].split(", ")]
    return message[: told.start()], [(int(cell.removeprefix("cell ")) if cell else None, int(line)) for cell, _, line in places]


def _place(finding: Finding) -> str:
    """The line; with the cell in front in a notebook, as text reports have it."""
    return str(finding.span.line) if finding.cell is None else f"cell {finding.cell}:{finding.span.line}"
