"""The type of floating numbers in which the cell that is being computed works, as Cell.to_float has set it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

_types: list[Any] = [None]


def cell_type() -> Any:
    """MindSpore's type that the innermost cell casts to, None for none."""
    return _types[-1]


@contextlib.contextmanager
def within(kind: Any) -> Iterator[None]:
    """All that is computed within is of a cell of this type."""
    _types.append(kind)
    try:
        yield
    finally:
        _types.pop()
