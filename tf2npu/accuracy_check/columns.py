"""Texts of a given width on a terminal, where a Chinese character takes two columns."""

from __future__ import annotations

from rich.cells import cell_len

from npu_formats.escape import visible

_GAP = "..."
_MOST_LOOKED_AT = 2_000
"""Characters of either end of a text that can be in sight: one of megabytes is not looked through."""


def width(text: str) -> int:
    """Columns that a text takes."""
    return cell_len(text)


def padded(text: str, columns: int) -> str:
    """The text with blanks behind it up to a width."""
    return text + " " * (columns - width(text))


def fitted(text: str, columns: int) -> str:
    """The text on one line with odd characters shown, and with a gap in its middle where it is wider than the columns.

    The end of a node's name tells more than its middle.
    """
    if len(text) > 2 * _MOST_LOOKED_AT:
        text = text[:_MOST_LOOKED_AT] + text[-_MOST_LOOKED_AT:]
    text = visible(text)
    if width(text) <= columns:
        return text
    room = max(columns - len(_GAP), 2)
    start, end = _first_of(text, room // 2), _first_of(text[::-1], room - room // 2)[::-1]
    return start + _GAP + end


def _first_of(text: str, columns: int) -> str:
    """The first characters of a text, as many as fit."""
    kept = text[:columns]
    while width(kept) > columns:
        kept = kept[:-1]
    return kept
