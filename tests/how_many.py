"""The part of the tests that `make test` runs: each behaviour once, and of its examples and cases a part that stays the same.

`make whole`, which `make acceptance` has, runs all. There are four ways to leave out, and each leaves out of `make test` alone:
- `drawn(100)`: of examples that are drawn, a quarter;
- `some(CASES)`: of seeds, and of lists of cases of which the others ask much the same, one in four;
- `@pytest.mark.whole(beyond=1)`: of a test with many cases, those behind the first; `but=("one", "th*")` names those that stay;
- `@pytest.mark.whole`: a test that takes seconds and asks of more, or by processes or a browser, what a cheaper one asks.

A test or a case that alone asks something stays in `make test`, and so does that of a defect which takes less than 0.3 s.
"""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from fnmatch import filter as filter_names
from fnmatch import fnmatch
from typing import TypeVar

import pytest

IS_WHOLE = bool(os.environ.get("TF2NPU_WHOLE_TESTS")) or "--regen" in sys.argv
SHARE = 4
"""One of so many is run: the drawn examples of a whole run took two fifths of its time."""
FEWEST = 5
"""Examples that are drawn at least: with fewer, hypothesis has hardly left the simplest."""

Case = TypeVar("Case")


def drawn(whole: int, share: int = SHARE) -> int:
    """Number of examples, of `whole`, that are drawn: one of `share`, which is more where an example takes tenths of a second."""
    return whole if IS_WHOLE else max(whole // share, min(whole, FEWEST))


def some(cases: Iterable[Case], share: int = SHARE) -> list[Case]:
    """One of each `share` cases, the first of all among them."""
    return list(cases) if IS_WHOLE else list(cases)[::share]


def chosen(items: Sequence[pytest.Item]) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """The tests that are run, in their order, and those that the mark `whole` leaves to `make whole`."""
    kept: list[pytest.Item] = []
    left_out: list[pytest.Item] = []
    seen: dict[str, int] = defaultdict(int)
    for item in items:
        mark = item.get_closest_marker("whole")
        (kept if IS_WHOLE or mark is None or _stays(item, mark, seen[_function(item)]) else left_out).append(item)
        seen[_function(item)] += 1
    return kept, left_out


def _stays(item: pytest.Item, mark: pytest.Mark, place: int) -> bool:
    return place < mark.kwargs.get("beyond", 0) or any(fnmatch(_case(item), pattern) for pattern in mark.kwargs.get("but", ()))


def check_names(items: Sequence[pytest.Item]) -> None:
    """A case that is renamed would be tested in no `make test`, and nobody would see it.

    Raises: pytest.UsageError.
    """
    cases, marked = defaultdict(set), {}
    for item in items:
        cases[_function(item)].add(_case(item))
        marked.update((_function(item), mark.kwargs.get("but", ())) for mark in item.iter_markers("whole"))
    lost = [
        f"{function}: {name}" for function, names in marked.items() for name in names if not filter_names(cases[function], name)
    ]
    if lost:
        raise pytest.UsageError(f"mark.whole names cases that are not there: {', '.join(lost)}")


def _function(item: pytest.Item) -> str:
    return item.nodeid.partition("[")[0]


def _case(item: pytest.Item) -> str:
    return item.callspec.id if hasattr(item, "callspec") else ""
