"""A terminal to draw on."""

from __future__ import annotations

import os
from typing import TextIO

from rich.console import Console

_WIDTH = 80
"""Columns of a terminal that does not say how many it has."""
_LEAST_WIDTH = 20
"""Columns below which a sentence would be one word a line."""


def console(stream: TextIO) -> Console:
    """A console on this stream, as wide as its terminal; it reads no markup, so that texts of users draw nothing."""
    return Console(file=stream, width=_width(stream), highlight=False, markup=False, emoji=False)


def _width(stream: TextIO) -> int:
    try:
        columns = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        columns = 0
    return max(columns or _WIDTH, _LEAST_WIDTH)
