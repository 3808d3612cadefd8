"""The search for the least change, with tests of which the answer is known."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npu_formats.delta_debugging import BUDGET, INTERRUPTED, Candidate, Mends, MinimalSubset, minimal_subset
from tests.how_many import some

TESTS_PER_NAME = 12
"""Runs that may be made for each name of the set and each doubling of the candidates."""


def row(n_names: int, n_groups: int, draw: random.Random) -> list[Candidate]:
    return [Candidate(f"node_{i}", f"Op{draw.randrange(n_groups)}") for i in range(n_names)]


def most_tests(n_found: int, n_names: int) -> float:
    return TESTS_PER_NAME * max(n_found, 1) * math.log2(n_names)


def checked(candidates: list[Candidate], mends: Mends) -> MinimalSubset:
    """The result of a search, of which no set is run twice, and which is what it says."""
    asked = []

    def counting(names: frozenset[str]) -> bool:
        asked.append(names)
        return mends(names)

    found = minimal_subset(candidates, counting)
    assert len(set(asked)) == len(asked) == found.n_tests and found.stopped == ""
    if found.names is not None:
        names = frozenset(found.names)
        assert mends(names) and found.is_minimal
        assert not any(mends(names - {name}) for name in names)
        assert len(names) == min(len(one) for one in asked if mends(one)), "a smaller set was met on the way"
        members = frozenset(name for name, group in candidates if group in found.groups)
        assert mends(members) and not any(
            mends(frozenset(name for name, group in candidates if group in found.groups and group != left_out))
            for left_out in found.groups
        )
    return found


@pytest.mark.parametrize("seed", some(range(60)))
def test_what_is_planted_is_found_within_the_bound(seed: int):
    draw = random.Random(seed)
    candidates = row(draw.randint(100, 2000), draw.choice([1, 5, 20, 60]), draw)
    planted = frozenset(draw.sample([name for name, _ in candidates], draw.randint(1, 3)))
    found = checked(candidates, planted.issubset)
    assert found.names is not None and set(found.names) == planted
    assert found.groups == tuple(dict.fromkeys(g for _, g in candidates if g in {g for n, g in candidates if n in planted}))
    assert found.n_tests <= most_tests(len(planted), len(candidates))


@pytest.mark.parametrize("seed", some(range(60)))
def test_of_several_sets_one_is_found_within_the_bound(seed: int):
    draw = random.Random(seed)
    candidates = row(draw.randint(100, 2000), 20, draw)
    names = [name for name, _ in candidates]
    planted = [frozenset(draw.sample(names, draw.randint(1, 3))) for _ in range(3)]
    found = checked(candidates, lambda chosen: any(one <= chosen for one in planted))
    assert frozenset(found.names or ()) in planted
    assert found.n_tests <= most_tests(len(found.names or ()), len(candidates))


def harmful(planted: frozenset[str], pairs: list[tuple[str, str]]) -> Mends:
    """Choices that break the run unless another one is made too."""
    return lambda chosen: planted <= chosen and all(cure in chosen or harm not in chosen for harm, cure in pairs)


@pytest.mark.parametrize("seed", some(range(60)))
def test_where_choices_do_harm_the_set_mends_and_nothing_can_be_left_out(seed: int):
    draw = random.Random(seed)
    candidates = row(draw.randint(100, 2000), 20, draw)
    names = [name for name, _ in candidates]
    planted = frozenset(draw.sample(names, draw.randint(1, 3)))
    pairs = [(draw.choice(names), draw.choice(names)) for _ in range(draw.randint(1, 5))]
    found = checked(candidates, harmful(planted, pairs))
    assert found.names is not None and planted <= set(found.names)
    assert found.n_tests <= most_tests(len(found.names), len(candidates))


@given(st.integers(1, 9), st.data())
def test_any_test_whatever_ends_with_a_set_that_is_what_it_says(n_names: int, data: st.DataObject):
    names = [f"n{i}" for i in range(n_names)]
    candidates = [Candidate(name, data.draw(st.sampled_from("ABC"))) for name in names]
    subsets = [frozenset(one) for size in range(n_names + 1) for one in itertools.combinations(names, size)]
    mending = data.draw(st.sets(st.sampled_from(subsets)))
    found = checked(candidates, mending.__contains__)
    assert (found.names is None) == (frozenset(names) not in mending)


def test_fewer_names_are_found_from_the_other_end():
    candidates = [Candidate(f"n{i}", f"Op{i % 7}") for i in range(200)]
    found = checked(candidates, lambda chosen: {"n3", "n10"} <= chosen or "n150" in chosen)
    assert found.names == ("n150",)


def test_nothing_mends_and_nothing_needs_to():
    candidates = [Candidate("a"), Candidate("b")]
    assert checked(candidates, lambda chosen: False) == MinimalSubset(None, (), False, "", 1)
    assert checked(candidates, lambda chosen: True)[:3] == ((), (), True)
    assert checked([], lambda chosen: False).names is None


@pytest.mark.parametrize("stops", [BUDGET, INTERRUPTED])
def test_a_stop_gives_the_best_set_so_far(stops: str):
    candidates = row(500, 20, random.Random(1))
    planted = {"node_7", "node_300"}
    sizes, whole = [], minimal_subset(candidates, planted.issubset).n_tests
    for n_tests in range(whole + 2):
        found = minimal_subset(candidates, *_stopping(planted.issubset, n_tests, stops))
        assert found.n_tests <= n_tests
        if found.names is None:
            assert n_tests == 0 and found.stopped == stops
            continue
        assert planted <= set(found.names) and (not found.is_minimal or planted == set(found.names))
        assert found.stopped == (stops if n_tests < whole else "")
        sizes.append(len(found.names))
    assert sizes == sorted(sizes, reverse=True) and sizes[0] == 500 and sizes[-1] == 2


def _stopping(mends: Mends, n_tests: int, how: str) -> tuple[Mends, Callable[[], bool]]:
    """A test and a budget, of which one ends the search after so many tests."""
    left = iter(range(n_tests))

    def counting(names: frozenset[str]) -> bool:
        if how == INTERRUPTED and next(left, None) is None:
            raise KeyboardInterrupt
        return mends(names)

    return counting, lambda: how == INTERRUPTED or next(left, None) is not None


def test_another_exception_of_a_test_reaches_the_caller():
    with pytest.raises(ZeroDivisionError):
        minimal_subset([Candidate("a")], lambda chosen: bool(1 // 0))
