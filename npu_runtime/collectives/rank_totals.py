"""Totals of each rank of a job, for the report of its run: the ranks tell the coordinator, and rank 0 asks it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import Condition
from typing import Any

Told = list[list[Any]]
"""[rank, document] of each rank that has told; the documents are those of `RunLog.training`, and `collective_seconds`."""
_sources: list[Callable[[], Mapping[str, Any]]] = []


def tell_from(source: Callable[[], Mapping[str, Any]]) -> None:
    """source: makes this process' document, when it is told."""
    _sources[:] = [source]


def own_totals(collective_seconds: float) -> dict[str, Any]:
    """This process' document.  collective_seconds: wall time in collective operations, with the waiting for others."""
    return {**(_sources[0]() if _sources else {}), "collective_seconds": collective_seconds}


class KeptTotals:
    """The coordinator's.

    changed: notified when a rank has ended.  ended: ranks that have.
    """

    def __init__(self, changed: Condition, ended: Mapping[int, str]) -> None:
        self._changed, self._ended = changed, ended
        self._told: dict[int, Any] = {}

    def keep(self, rank: int, document: Any) -> None:
        """Keeps the document of a rank, in the place of an earlier one."""
        with self._changed:
            self._told[rank] = document
            self._changed.notify_all()

    def of_all(self, size: int, seconds: float) -> Told:
        """The documents that were told, by rank, once all ranks have told or ended, or after so many seconds."""
        with self._changed:
            self._changed.wait_for(lambda: all(rank in self._told or rank in self._ended for rank in range(size)), seconds)
            return [[rank, document] for rank, document in sorted(self._told.items())]
