"""Calls that workers make beside the thread that asked: made once, waited for with help, errors handed over."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from npu_runtime.device import float_status
from npu_runtime.errors import InvalidArgument
from npu_runtime.kernels.threads import parallel
from npu_runtime.kernels.threads.background import begin
from npu_runtime.kernels.threads.parallel import parallel_ranges, set_n_threads


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    before = parallel.n_threads()
    set_n_threads(2)
    yield
    set_n_threads(before)


def test_a_worker_makes_the_call_while_its_caller_goes_on() -> None:
    """Both wait for each other, so one thread alone could never finish."""
    barrier = threading.Barrier(2, timeout=60)
    call = begin(barrier.wait)
    barrier.wait()
    call.wait()


def test_who_waits_makes_a_call_that_nobody_has_begun() -> None:
    set_n_threads(1)
    names: list[str] = []
    call = begin(lambda: names.append(threading.current_thread().name))
    assert not names
    call.wait()
    call.wait()
    assert names == [threading.current_thread().name]


@pytest.mark.parametrize("is_begun", [False, True])
def test_who_waits_takes_part_in_the_sections_of_the_call(is_begun: bool) -> None:
    """The two pieces of the section wait for each other; the only worker has one of them."""
    barrier, started, may_start = threading.Barrier(2, timeout=60), threading.Event(), threading.Event()

    def piece(start: int, stop: int) -> None:
        started.set()
        barrier.wait()

    def call() -> None:
        assert is_begun or may_start.wait(60)
        parallel_ranges(2, piece)

    under_way = begin(call)
    if is_begun:
        assert started.wait(60)
    else:
        threading.Timer(0.05, may_start.set).start()
        threading.Event().wait(0.01)  # for the worker to take it
    under_way.wait()
    assert started.is_set()


def test_sections_of_the_caller_end_while_the_worker_is_busy() -> None:
    release = threading.Event()
    call = begin(lambda: release.wait(60))
    seen: list[int] = []
    parallel_ranges(8, lambda start, stop: seen.append(start))
    assert sorted(seen) == list(range(8))
    release.set()
    call.wait()


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_is_raised_where_the_call_is_waited_for(threads: int) -> None:
    set_n_threads(threads)

    def fails() -> None:
        raise InvalidArgument("no such row")

    call = begin(fails)
    for _ in range(2):
        with pytest.raises(InvalidArgument, match="no such row"):
            call.wait()


def test_the_call_works_on_the_step_of_its_caller() -> None:
    """An fp16 overflow on the worker is one of the caller's step."""
    float_status.begin(True)
    ran = threading.Event()

    def overflows() -> None:
        float_status.note_overflow("far")
        ran.set()

    call = begin(overflows)
    assert ran.wait(60)
    call.wait()
    assert float_status.has_overflowed()
    float_status.begin(False)
