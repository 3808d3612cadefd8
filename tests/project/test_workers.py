"""Worker processes: order kept, a failing file alone fails, a dying process takes nobody with it."""

import os

import pytest

from tf2npu.project import workers


def work(path: str, data: bytes, suffix: str) -> str:
    """Work of the workers here."""
    if data == b"raise":
        raise ValueError(f"cannot {path}")
    if data == b"die":
        os._exit(9)
    return f"{path}{len(data)}{suffix}"


JOBS = [(f"f{number}", b"x" * number) for number in range(200)]


@pytest.mark.parametrize("n_workers", [1, 2, 3])
def test_results_come_in_the_order_of_the_files(n_workers):
    assert list(workers.run(work, JOBS, ("!",), n_workers)) == [f"{path}{len(data)}!" for path, data in JOBS]


@pytest.mark.parametrize("n_workers", [1, 2])
def test_an_exception_stays_with_its_file(n_workers):
    jobs = [*JOBS[:5], ("bad", b"raise"), *JOBS[5:]]
    results = list(workers.run(work, jobs, ("",), n_workers))
    crash = results.pop(5)
    assert (crash.path, crash.error) == ("bad", "ValueError: cannot bad")
    assert "Traceback" in crash.details
    assert results == [f"{path}{len(data)}" for path, data in JOBS]


def test_a_process_that_dies_costs_one_file():
    """Large files, of which a worker takes two at a time: each that was under way is done again in a process of its own."""
    large = [(path, b"x" * 40_000) for path, _ in JOBS[:8]]
    results = list(workers.run(work, [*large[:3], ("bad", b"die"), *large[3:]], ("",), 2))
    assert results.pop(3).path == "bad"
    assert results == [f"{path}{len(data)}" for path, data in large]


@pytest.mark.parametrize("jobs, total, expected", [(8, 0, 1), (8, 100_000, 1), (8, 1 << 30, 8), (1, 1 << 30, 1), (8, 400_000, 3)])
def test_a_process_is_started_only_when_there_is_work_for_it(jobs, total, expected):
    assert workers.worth_starting(jobs, total) == expected
