"""Whole numbers in texts of others, which may be of any length."""

from __future__ import annotations

MOST_DIGITS = 9
"""No line, output or rank has more; Python raises ValueError for more than 4,300."""


def whole_number(text: str) -> int | None:
    """The number that some ASCII digits are; None for another text, and for more digits than any number here has."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS else None
