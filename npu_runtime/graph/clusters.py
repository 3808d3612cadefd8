"""Clusters: sets of nodes that may become one, as long as no cycle between sets comes of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


class Clusters:
    """Sets of nodes and what each needs, as bits: bit n of `_before` says that set n must come first, of `_direct` that it is
    read from, of `_readers` that set n reads from it."""

    def __init__(self) -> None:
        self._of: dict[str, int] = {}
        self._members: dict[int, list[str]] = {}
        self._before: dict[int, int] = {}
        self._direct: dict[int, int] = {}
        self._readers: dict[int, int] = {}

    def add(self, name: str, sources: Sequence[str]) -> None:
        """A set of one new node, which reads from nodes that are there."""
        number = len(self._of)
        self._of[name], self._members[number] = number, [name]
        direct = before = 0
        for needed in {self._of[source] for source in sources}:
            direct |= 1 << needed
            before |= self._before[needed]
            self._readers[needed] |= 1 << number
        self._direct[number], self._before[number], self._readers[number] = direct, before | direct, 0

    def join(self, name: str, source: str) -> None:
        """Make one set of two, unless a third lies on a way from one to the other."""
        one, other = self._of[source], self._of[name]
        if one == other or self._has_way(one, other) or self._has_way(other, one):
            return
        kept, gone = min(one, other), max(one, other)
        both = 1 << kept | 1 << gone
        for number in _bits(self._readers[gone]):
            self._direct[number] = (self._direct[number] & ~both) | 1 << kept
        for number in _bits(self._direct[gone]):
            self._readers[number] = (self._readers[number] & ~both) | 1 << kept
        for of in (self._before, self._direct, self._readers):
            of[kept] = (of[kept] | of.pop(gone)) & ~both
        self._tell_those_behind(kept, both)
        moved = self._members.pop(gone)
        self._members[kept] += moved
        self._of.update(dict.fromkeys(moved, kept))

    def _tell_those_behind(self, kept: int, both: int) -> None:
        """Adds a set that has grown, and the sets before it, to those before each set behind it."""
        new = self._before[kept] | 1 << kept
        waiting = self._readers[kept]
        while waiting:
            number = waiting.bit_length() - 1
            waiting ^= 1 << number
            before = (self._before[number] & ~both) | new
            if before != self._before[number]:
                self._before[number] = before
                waiting |= self._readers[number]

    def _has_way(self, start: int, end: int) -> bool:
        """Whether one gets from `start` to `end` by way of a third set, which then reads from `start`."""
        return self._readers[start] & self._before[end] != 0

    def of(self, name: str) -> int:
        """The number of the set that a node is in; it changes as sets are joined."""
        return self._of[name]

    def inside(self, number: int) -> list[str]:
        """The nodes of one set."""
        return self._members[number]

    def members(self) -> list[list[str]]:
        """The sets, in the order of their first nodes."""
        return [self._members[number] for number in sorted(self._members)]


def _bits(bits: int) -> Iterator[int]:
    while bits:
        number = bits.bit_length() - 1
        bits ^= 1 << number
        yield number
