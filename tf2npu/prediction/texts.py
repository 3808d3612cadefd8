"""The texts of predictions, in the reader's language.

Code, pages and scripts of this package name a text by its English template with {} for each value; `locale/LANG.json` has the
template in another language, where {1} names a value by its number. `advice.json` has the advice of each kind in every language.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from npu_formats.documents.prediction import Advice
from npu_formats.escape import visible
from tf2npu.report.languages.language import Catalogue

_FOLDER = Path(__file__).parent
_MOST_OPERATORS = 5
"""Operators that a line of advice names; the page has the others."""


class Texts:
    """Texts in one language.  language: "en" or "zh"."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.of_template: dict[str, str] = {}
        if language != "en":
            self.of_template = json.loads((_FOLDER / "locale" / f"{language}.json").read_text(encoding="utf-8"))
        self._catalogue = Catalogue(self.of_template)

    def __call__(self, template: str, *values: object) -> str:
        """The template in this language with its values."""
        return self.of_template.get(template, template).format(*values) if values else self.of_template.get(template, template)

    def note(self, text: str) -> str:
        """A sentence that the document brings, in this language where the catalogue has its template."""
        return self._catalogue.text(text)

    def title(self, advice: Advice) -> str:
        """The subject of the advice, in a few words."""
        return self._of_kind(advice).get("title", advice.kind)

    def why(self, advice: Advice) -> str:
        """The reason that the step loses time, and what to do; "" for a kind of a later version."""
        return self._of_kind(advice).get("text", "")

    def operators(self, advice: Advice) -> str:
        """The operators, the first few by name."""
        names = ", ".join(map(visible, advice.operators[:_MOST_OPERATORS]))
        rest = len(advice.operators) - _MOST_OPERATORS
        return self("{} and {} more", names, rest) if rest > 0 else names

    def details(self, advice: Advice) -> list[str]:
        """Each further word of the advice with its label."""
        labels = _advice()["details"]
        return [f"{labels.get(key, {}).get(self.language, visible(key))}: {_value(v)}" for key, v in advice.details.items()]

    def _of_kind(self, advice: Advice) -> Mapping[str, str]:
        found: Mapping[str, str] = _advice()["kinds"].get(advice.kind, {}).get(self.language, {})
        return found


@cache
def texts(language: str) -> Texts:
    """The texts of a language."""
    return Texts(language)


@cache
def _advice() -> dict[str, Any]:
    document: dict[str, Any] = json.loads((_FOLDER / "advice.json").read_text(encoding="utf-8"))
    return document


def advice_kinds() -> tuple[str, ...]:
    """The kinds of advice that there are texts for."""
    return tuple(_advice()["kinds"])


def _value(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(_value, value))
    if isinstance(value, float):
        return f"{value:g}"
    return visible(str(value))
