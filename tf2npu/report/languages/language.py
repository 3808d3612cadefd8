"""The report's texts in the reader's language, from one catalogue.

Rules and the rest of the converter say things in English. `locale/LANG.json` maps each of their templates, with {} for what
is put in while the program runs, to the same text in another language (there {} stands for what was put in, in order; {1}
names it by its number). A message is matched to its template when it is shown; what was put in is translated in turn, and a
message that is made of several texts is taken apart. What nothing fits stays English: a test refuses that for our own texts,
and for a rule of a plug-in a warning says so. An empty text in the catalogue is one that is still to be written.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from functools import cached_property, lru_cache
from pathlib import Path

log = logging.getLogger(__name__)
LANGUAGES = ("en", "zh")
_FOLDER = Path(__file__).parents[1] / "locale"
_SLOT = re.compile(r"\{(\d*)\}")
_SENTENCES = re.compile(r"\.\s+[A-Z]")
_BORDER = re.compile(r"(?<=[.:;)])\s+|(?<=[:;)])(?=\S)|(?=, )")  # where one text of a message can end and the next begin
_MORE = re.compile(r" and (\d+) more\b")  # the end of a list that was cut, in whatever stands around it
_LEAST_LETTERS = 3
"""Letters that a template needs to be looked for: one of fewer would fit any message."""


class Catalogue:
    """Texts of one language."""

    def __init__(self, texts: dict[str, str]) -> None:
        texts = {template: text for template, text in texts.items() if text}
        self._exact = {template.strip(): text for template, text in texts.items() if "{}" not in template}
        self._with_slots = {template.strip(): text for template, text in texts.items() if "{}" in template}
        self._more = texts.get(" and {} more", " and {} more").replace("{}", r"\1")
        self._known: dict[str, str | None] = {}

    @cached_property
    def _patterns(self) -> list[tuple[re.Pattern[str], str]]:
        """The templates as patterns, those of most letters first; to compile them takes longer than to convert a small file."""
        lengths = {template: _letters(template) for template in self._with_slots}
        wanted = [template for template, letters in lengths.items() if letters >= _LEAST_LETTERS]
        return [(_pattern(one), self._with_slots[one]) for one in sorted(wanted, key=lambda template: -lengths[template])]

    def template(self, english: str) -> str:
        """The template in this language of a template with slots; without a text, the English one."""
        return self._with_slots.get(english.strip(), english.strip())

    def text(self, english: str) -> str:
        """The text in this language, or the English one where there is none."""
        return self._find(english) or _MORE.sub(self._more, english)

    def word(self, word: str) -> str:
        """A level, status or verdict in words.  Its key is a phrase: in a message the same word may be a name of the user's."""
        return self._exact.get(f"{word} as a level, status or verdict", word)

    def has(self, english: str) -> bool:
        """Whether there is a text in this language."""
        return self._find(english) is not None

    def counted(self, number: int, noun: str) -> str:
        """The number with its noun in the right form."""
        return self.text(counted(number, noun))

    def _find(self, english: str) -> str | None:
        if english not in self._known:
            self._known[english] = None  # a text that contains itself is not looked for twice
            self._known[english] = self._whole(english.strip()) or self._in_parts(english.strip())
        return self._known[english]

    def _whole(self, english: str) -> str | None:
        if english in self._exact:
            return self._exact[english]
        for pattern, text in self._patterns:
            found = pattern.fullmatch(english)
            if found:
                is_longer = any(map(_SENTENCES.search, found.groups()))  # a slot that has taken in the sentences behind it
                return (self._in_parts(english) if is_longer else None) or self._filled(text, found.groups())
        return None

    def _filled(self, text: str, values: tuple[str, ...]) -> str:
        numbers = iter(range(len(values)))
        return _SLOT.sub(lambda slot: self.text(values[int(slot.group(1) or next(numbers))]), text)

    def _in_parts(self, english: str) -> str | None:
        """The translations of two parts of the text, the first as long as possible."""
        for border in reversed(list(_BORDER.finditer(english))):
            first = self._whole(english[: border.start()]) if border.start() else None
            rest = self._find(english[border.end() :]) if first is not None else None
            if first is not None and rest is not None:
                return first + rest
        inner = self._find(english[:-1]) if english.endswith(".") else None
        return None if inner is None else inner + "。"


def counted(number: int, noun: str) -> str:
    """The number with its noun in the right form, in English."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _letters(template: str) -> int:
    return sum(map(str.isalpha, template))


def _pattern(template: str) -> re.Pattern[str]:
    return re.compile("(.*?)".join(re.escape(part) for part in template.split("{}")), re.DOTALL)


@lru_cache(maxsize=4)
def catalogue(language: str) -> Catalogue:
    """The texts of a language; those of English are themselves."""
    file = _FOLDER / f"{language}.json"
    return Catalogue(json.loads(file.read_text(encoding="utf-8")) if language != "en" else {})


@lru_cache(maxsize=64)
def warn_of_english(rule_id: str, language: str) -> None:
    """Say, once in a process, that a rule of a plug-in has no text in a language."""
    log.warning("rule %s of a plug-in has no text in the language %r; what it says is shown in English", rule_id, language)


def texts_of_template(source: str) -> Iterator[str]:
    """The texts of a page's template itself: between tags, in attributes that are read, and as literals to choose from."""
    for pattern in _IN_TEMPLATE:
        for found in pattern.finditer(source):
            yield " ".join(found.group(1).split())


def template_in(source: str, language: str) -> str:
    """A page's template with its own texts in the language."""
    if language == "en":
        return source
    texts = catalogue(language)

    def translated(found: re.Match[str]) -> str:
        english = found.group(1)
        return found.group().replace(english.strip(), texts.text(" ".join(english.split())))

    for pattern in _IN_TEMPLATE:
        source = pattern.sub(translated, source)
    return source.replace('<html lang="en"', f'<html lang="{language}"')


_IN_TEMPLATE = (
    re.compile(r"(?:>|\}\}(?=[ .]))(?=(?:[^<>{}&=]|&\w+;)*?\b[A-Za-z]{2}[^<>{}=\";]*[<{])([^<>{}]+)(?=[<{])"),
    re.compile(
        r"(?:aria-label|placeholder|title|data-(?:suppress|link|copied|refused|text|previous|next))=\"([^\"{}]*[A-Za-z]{2}[^\"{}]*)\""
    ),
    re.compile(r"(?:\{\{ | else )\"([A-Z][^\"<>]*)\"(?= if | \}\})"),
)
