"""A choice between ways that do the same, which the first uses make: each is tried some times, and the fastest is kept."""

from __future__ import annotations

from collections.abc import Generator
from threading import Lock
from typing import Generic, TypeVar

Way = TypeVar("Way")
Seen = TypeVar("Seen")


class Autotune(Generic[Way, Seen]):
    """Several threads may ask; one at a time makes a trial."""

    def __init__(self, search: Generator[Way, Seen, Way]) -> None:
        """search: yields the way to try next, is sent what that showed, and returns the best way."""
        self.found: Way | None = None
        """The chosen way; None until the choice is made."""
        self._search = search
        self._first = self._next = next(search)
        self._busy = Lock()

    @property
    def current(self) -> Way:
        """The way that was chosen; until then, the one that is to be tried."""
        return self._next if self.found is None else self.found

    def begin(self) -> Way | None:
        """The way to try; None where the choice is made or another thread is at a trial. Whoever gets one must `end` it."""
        return self._next if self.found is None and self._busy.acquire(blocking=False) else None

    def tell(self, seen: Seen) -> bool:
        """Takes the result of a trial; the call may be left out where it failed.  Returns: whether that made the choice."""
        if self.found is not None:  # another thread has made it since this one asked
            return False
        try:
            self._next = self._search.send(seen)
        except StopIteration as end:
            self.found = self._first if end.value is None else end.value  # none where an interrupt has ended the search
            return True
        return False

    def end(self) -> None:
        """Let others make trials."""
        self._busy.release()
