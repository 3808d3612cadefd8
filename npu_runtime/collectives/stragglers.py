"""The rank that the others wait for: every call notes when each has come."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from threading import Lock
from typing import Any


class Waiting:
    """Waiting times of all calls of a job that all of their ranks have come to."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._n_calls = 0
        self._seconds: defaultdict[int, float] = defaultdict(float)
        self._last: defaultdict[int, int] = defaultdict(int)

    def note(self, came: Mapping[int, float]) -> None:
        """came: when each rank of a call has come, by one clock, in seconds."""
        last = max(came, key=lambda rank: came[rank])
        waited = sum(came[last] - moment for moment in came.values())
        with self._lock:
            self._n_calls += 1
            self._seconds[last] += waited
            self._last[last] += 1

    def document(self) -> dict[str, Any]:
        """calls: how many.  last: a rank, the times that it came last, the others' seconds for it then; the longest first."""
        with self._lock:
            ranks = sorted(self._last, key=lambda rank: (-self._seconds[rank], rank))
            return {"calls": self._n_calls, "last": [[rank, self._last[rank], self._seconds[rank]] for rank in ranks]}


def sentence(document: Mapping[str, Any], n_ranks: int) -> str:
    """The sentence that tells a person of the ranks that the others waited for."""
    said = [f"for rank {rank} {seconds:.1f} s (last {_times(times)})" for rank, times, seconds in document["last"][:_MOST_RANKS]]
    more = len(document["last"]) - len(said)
    rest = f", and {more} more ranks" if more > 0 else ""
    return f"{n_ranks} ranks have met {_times(document['calls'])} and waited for each other: {', '.join(said)}{rest}"


def _times(number: int) -> str:
    return "1 time" if number == 1 else f"{number} times"


_MOST_RANKS = 8
"""Ranks that the sentence names: a server has as many devices."""
