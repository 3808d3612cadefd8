"""The texts of a check in the reader's language, each by its English template with {} for each value, from `locale/LANG.json`."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from tf2npu.comparison.texts import Texts

_FOLDER = Path(__file__).parent / "locale"


@cache
def texts(language: str) -> Texts:
    """The texts of a language, "en" or "zh"."""
    return Texts(language, _FOLDER)
