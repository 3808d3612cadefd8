"""The worker pool: every piece once, no deadlock, errors seen, alive after a fork, same result on any thread count."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_info

from npu_runtime.kernels.base import all_kernels
from npu_runtime.kernels.threads import parallel
from npu_runtime.kernels.threads.parallel import parallel_ranges, scratch, set_n_threads
from tests.how_many import drawn


@pytest.fixture(autouse=True)
def four_threads() -> Iterator[None]:
    """More workers than this machine may have, so that pieces really interleave."""
    before = parallel.n_threads()
    set_n_threads(4)
    yield
    set_n_threads(before)


def pieces_of(n: int, grain: int) -> list[tuple[int, int]]:
    seen: list[tuple[int, int]] = []
    parallel_ranges(n, lambda start, stop: seen.append((start, stop)), grain)
    return sorted(seen)


@settings(deadline=None, max_examples=drawn(50))
@given(st.integers(0, 500), st.integers(1, 600))
def test_pieces_cover_the_range_once_and_fit_the_grain(n: int, grain: int) -> None:
    pieces = pieces_of(n, grain)
    assert [start for start, _ in pieces] == [0, *[stop for _, stop in pieces]][: len(pieces)]
    assert not n or pieces[-1][1] == n
    assert all(0 < stop - start <= grain for start, stop in pieces)


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_pieces_do_not_depend_on_the_number_of_threads(threads: int) -> None:
    expected = pieces_of(1000, 64)
    set_n_threads(threads)
    assert pieces_of(1000, 64) == expected
    assert parallel.n_threads() == threads


def test_small_range_runs_on_the_calling_thread() -> None:
    names: list[str] = []
    parallel_ranges(8, lambda start, stop: names.append(threading.current_thread().name), 8)
    assert names == [threading.current_thread().name]


def test_workers_take_part() -> None:
    """Two bodies wait for each other, so one thread alone could never finish."""
    barrier = threading.Barrier(2, timeout=60)
    parallel_ranges(2, lambda start, stop: barrier.wait(), 1)


def test_nested_call_runs_inline() -> None:
    total = np.zeros((6, 6), np.int64)

    def outer(start: int, stop: int) -> None:
        thread = threading.get_ident()

        def inner(first: int, last: int) -> None:
            assert threading.get_ident() == thread
            total[start:stop, first:last] += 1

        parallel_ranges(6, inner, 1)

    parallel_ranges(6, outer, 1)
    assert (total == 1).all()


def test_many_callers_at_once() -> None:
    results = np.zeros((8, 50), np.int64)

    def caller(index: int) -> None:
        for turn in range(50):
            part = np.zeros(40, np.int64)
            parallel_ranges(40, lambda start, stop, part=part: part.__setitem__(slice(start, stop), 1), 3)
            results[index, turn] = part.sum()

    threads = [threading.Thread(target=caller, args=(index,)) for index in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert (results == 40).all()


@pytest.mark.parametrize("bad", [0, 17, 39])
def test_exception_reaches_the_caller_and_the_pool_lives_on(bad: int) -> None:
    def body(start: int, stop: int) -> None:
        if start <= bad < stop:
            raise ValueError(f"piece {bad}")

    with pytest.raises(ValueError, match=f"piece {bad}"):
        parallel_ranges(40, body, 1)
    assert len(pieces_of(40, 1)) == 40


def test_child_of_a_fork_has_its_own_pool() -> None:
    parallel_ranges(4, lambda start, stop: None, 1)
    child = os.fork()
    if child == 0:
        os._exit(0 if len(pieces_of(64, 1)) == 64 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_blas_has_one_thread() -> None:
    """Also scipy's, which comes with the first kernel that needs it."""
    all_kernels()
    np.ones((4, 4), np.float32) @ np.ones((4, 4), np.float32)
    assert {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"} == {1}


def test_scratch_is_kept_by_thread_and_name() -> None:
    first = scratch("a", (4, 5))
    assert first.shape == (4, 5)
    assert first.dtype == np.float32
    assert np.shares_memory(first, scratch("a", (20,)))
    assert not np.shares_memory(first, scratch("b", (20,)))
    others: list[np.ndarray] = []
    thread = threading.Thread(target=lambda: others.append(scratch("a", (20,))))
    thread.start()
    thread.join()
    assert not np.shares_memory(first, others[0])


def test_at_least_one_thread() -> None:
    with pytest.raises(ValueError, match="at least one"):
        set_n_threads(0)
