"""Texts of a page, in the reader's language: by their English template with {} for each value, from `locale/LANG.json`."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent / "locale"


class Texts:
    """Texts in one language.  language: "en" or "zh".  folder: where the catalogues are."""

    def __init__(self, language: str, folder: Path = _FOLDER) -> None:
        self.language = language
        self.of_template: dict[str, str] = {}
        if language != "en":
            self.of_template = json.loads((folder / f"{language}.json").read_text(encoding="utf-8"))

    def __call__(self, template: str, *values: object) -> str:
        """The template in this language with its values."""
        text = self.of_template.get(template, template)
        return text.format(*values) if values else text


@cache
def texts(language: str) -> Texts:
    """The texts of a language."""
    return Texts(language)
