"""An index of the things in a file by their places: which of them overlap a place."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from itertools import accumulate
from typing import Generic, TypeVar

from tf2npu.findings import Span

T = TypeVar("T")


class OverlapIndex(Generic[T]):
    """Things in the order of their starts, so that a file of very many changes is not searched for each of its findings."""

    def __init__(self, things: Sequence[tuple[Span, T]]) -> None:
        self._in_order = sorted(things, key=lambda entry: (entry[0].line, entry[0].column))
        self._starts = [(span.line, span.column) for span, _ in self._in_order]
        self._reach = list(accumulate(((span.end_line, span.end_column) for span, _ in self._in_order), max))

    def overlapping(self, place: Span) -> list[T]:
        """The things that overlap a place or end where it begins, or the other way round."""
        start, end = (place.line, place.column), (place.end_line, place.end_column)
        near = self._in_order[bisect.bisect_left(self._reach, start) : bisect.bisect_right(self._starts, end)]
        return [thing for span, thing in near if (span.end_line, span.end_column) >= start]
