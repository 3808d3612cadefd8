"""Arrays as the repr of a tensor writes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

EDGE = 3
"""Elements at either end of an axis that is cut."""
LONG_AXIS = 2 * EDGE
"""The longest axis that is written whole where there are several."""
LONG_LINE = 1000
"""The longest single axis that is written whole."""


def written(array: np.ndarray) -> str:
    """The text behind `value=`: after a blank with up to one axis, on lines of its own with more."""
    if array.ndim == 0:
        return f" {array[()]:g}" if array.dtype.kind == "f" else f" {array[()]}"
    n_whole = LONG_LINE if array.ndim == 1 else LONG_AXIS
    return ("\n" if array.ndim > 1 else " ") + _rows(array, _element(array), n_whole, 1)


def _element(array: np.ndarray) -> Callable[[Any], str]:
    """The writer of one element: all are as wide as each other."""
    if array.dtype.kind == "f":
        width, digits = (11, 4) if array.dtype == np.float16 else (15, 8)
        return lambda value: f"{value:{width}.{digits}e}"
    width = 5 if array.dtype.kind == "b" else max((len(str(one)) for one in array.ravel()), default=0)
    return lambda value: f"{value!s:>{width}}"


def _rows(array: np.ndarray, element: Callable[[Any], str], n_whole: int, indent: int) -> str:
    is_cut = len(array) > n_whole
    parts = [array[:EDGE], array[-EDGE:]] if is_cut else [array]
    if array.ndim == 1:
        return "[" + " ... ".join(", ".join(map(element, part)) for part in parts) + "]"
    turn = "\n" + " " * indent
    rows = [f",{turn}".join(_rows(one, element, n_whole, indent + 1) for one in part) for part in parts]
    return "[" + f",{turn}...{turn}".join(rows) + "]"
