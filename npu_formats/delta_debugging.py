"""Search for the choices that matter among many: a set that mends a run and of which none can be left out.

The search is dichotomic: candidates stand in a row, bisection finds the shortest beginning of it that mends, and the last one of
that beginning is needed with what stands before it. It is kept, what stood behind it is out, and the rest of the row is searched
again, until those kept mend by themselves. For k needed of n that are about k log2(n) tests where more choices never do harm.
Source: F. Hemery, C. Lecoutre, L. Sais, F. Boussemart, "Extracting MUCs from Constraint Networks", ECAI 2006. It is a kind of
delta debugging (A. Zeller, R. Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", IEEE TSE 28(2), 2002) that needs
fewer tests than QuickXplain (U. Junker, AAAI 2004) where few of many are needed.

Where more choices may do harm, bisection still ends between a beginning that does not mend and one longer by one that does, so
what is kept mends in the end; then each one is left out in turn, as ddmin does last, until none can be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

Mends = Callable[[frozenset[str]], bool]
"""mends(names): whether a run with these choices made is right."""
BUDGET, INTERRUPTED = "budget", "interrupted"


class Candidate(NamedTuple):
    """A choice that may be made.  group: of those that are tried together first, as nodes of one operator are."""

    name: str
    group: str = ""


class MinimalSubset(NamedTuple):
    """The result of a search, and the reason that it stopped.

    names: the smallest set that mends, in the order of the candidates; None where none is known to.  groups: groups that mend as
    a whole and of which none can be left out; empty where that was not reached.  is_minimal: whether no single name can be left
    out.  stopped: "" for a search that came to its end, BUDGET, or INTERRUPTED; where it is "" and names is None, all
    candidates together do not mend.  n_tests: runs that were made.
    """

    names: tuple[str, ...] | None
    groups: tuple[str, ...]
    is_minimal: bool
    stopped: str
    n_tests: int


def minimal_subset(candidates: Iterable[Candidate], mends: Mends, may_go_on: Callable[[], bool] = lambda: True) -> MinimalSubset:
    """Search groups of candidates, then the members of the groups found, then all names for those that stand further in front,
    and from the other end for fewer.

    candidates: each name once; where one of several would do, that which stands first is found.  mends: is called once for each
    set, and not again once may_go_on() says no.  A KeyboardInterrupt inside it ends the search, too, with the best set so far.
    """
    search = _Search(tuple(candidates), mends, may_go_on)
    try:
        search.run()
    except _Stopped:
        search.stopped = BUDGET
    except KeyboardInterrupt:
        search.stopped = INTERRUPTED
    return search.result()


class _Stopped(Exception):
    """The budget is over."""


Unit = frozenset[str]
"""Names that are chosen together."""


class _Search:
    """best: the smallest set known to mend.  groups: found as a whole.  is_minimal: whether best has been reduced to the end."""

    def __init__(self, candidates: Sequence[Candidate], mends: Mends, may_go_on: Callable[[], bool]) -> None:
        self.order = [candidate.name for candidate in candidates]
        self.units: dict[str, Unit] = {}
        for name, group in candidates:
            self.units[group] = self.units.get(group, frozenset()) | {name}
        self._mends, self._may_go_on = mends, may_go_on
        self.known: dict[Unit, bool] = {}
        self.best: Unit | None = None
        self.groups: tuple[str, ...] = ()
        self.is_minimal, self.stopped = False, ""

    def run(self) -> None:
        """Raises: _Stopped, KeyboardInterrupt."""
        everything = frozenset(self.order)
        if not self.mends([everything]):
            return
        smallest_first = sorted(self.units.values(), key=len)
        units = self.reduced(smallest_first, len(self.units)) or []
        self.groups = tuple(group for group, unit in self.units.items() if unit in units)
        members = frozenset[str]().union(*units)
        self._reduce_names([name for name in self.order if name in members], len(members))
        if self.best:
            self._reduce_names(self.order, len(self.best))
            self._reduce_names(self.order[::-1], len(self.best) - 1)

    def _reduce_names(self, names: Sequence[str], most: int) -> None:
        """Raises: _Stopped, KeyboardInterrupt."""
        found = self.reduced([frozenset((name,)) for name in names], most)
        if found is not None:  # every set that mended on the way holds these
            self.best, self.is_minimal = frozenset[str]().union(*found), True

    def reduced(self, units: list[Unit], most: int) -> list[Unit] | None:
        """Units that mend together and of which none can be left out; None where more than `most` would be needed.

        All of them together are known to mend.
        """
        kept: list[Unit] = []
        while not self.mends(kept):
            if len(kept) >= most:
                return None
            end = self._shortest_beginning(kept, units)
            kept.append(units[end - 1])
            units = units[: end - 1]
        return self._without_needless(kept)

    def _shortest_beginning(self, kept: list[Unit], units: list[Unit]) -> int:
        """The number of first units that mend beside those kept, where one fewer does not; none does not, and all do."""
        too_few, enough = 0, len(units)
        while enough - too_few > 1:
            middle = (too_few + enough) // 2
            if self.mends([*kept, *units[:middle]]):
                enough = middle
            else:
                too_few = middle
        return enough

    def _without_needless(self, kept: list[Unit]) -> list[Unit]:
        at = 0
        while at < len(kept):
            rest = kept[:at] + kept[at + 1 :]
            if self.mends(rest):
                kept, at = rest, 0  # what was needed beside it may be needless now
            else:
                at += 1
        return kept

    def mends(self, units: Sequence[Unit]) -> bool:
        """Raises: _Stopped, KeyboardInterrupt."""
        names = frozenset[str]().union(*units)
        if names not in self.known:
            if not self._may_go_on():
                raise _Stopped
            self.known[names] = self._mends(names)
        if self.known[names] and (self.best is None or len(names) < len(self.best)):
            self.best, self.is_minimal = names, False
        return self.known[names]

    def result(self) -> MinimalSubset:
        names = None if self.best is None else tuple(name for name in self.order if name in self.best)
        return MinimalSubset(names, self.groups, self.is_minimal, self.stopped, len(self.known))
