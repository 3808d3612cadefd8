"""Known names that a name may have been meant for, so that nobody is told of names that have nothing to do with it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher

_ALIKE = 0.75
"""Likeness of two names, as difflib counts, from which on one is suggested for the other: of ten letters two may differ. 0.4
likens `roi_pooling` to `encode_png`."""
_SHORTEST = 3
"""Characters of the shortest word that is looked for in longer names: shorter ones stand in names of every kind."""
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def near_names(name: str, known: Iterable[str], most: int) -> list[str]:
    """The nearest first: slips of the keyboard (`reduce_men`), and names of which only a part is written (`Adam`)."""
    likeness = {each: _likeness(name, each) for each in set(known) if each != name}
    found = sorted((each for each, value in likeness.items() if value >= _ALIKE), key=lambda each: (-likeness[each], each))
    return found[:most]


def _likeness(one: str, other: str) -> float:
    """Likeness from 0 to 1; at least what is asked for where the other name has all words of this one, and more."""
    matcher = SequenceMatcher(None, one.lower(), other.lower(), autojunk=False)
    if _has_all_words(one, other):
        return _ALIKE + (1 - _ALIKE) * matcher.ratio()
    return matcher.ratio() if matcher.real_quick_ratio() >= _ALIKE and matcher.quick_ratio() >= _ALIKE else 0.0


def _has_all_words(short: str, long: str) -> bool:
    words = _words(short)
    return sum(map(len, words)) >= _SHORTEST and words <= _words(long)


def _words(name: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(name))
