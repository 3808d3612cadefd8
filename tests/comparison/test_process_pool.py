"""Rows by several processes are those of one; what could not be read, and a process that dies, are dealt with."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from tests.comparison.hand_made import Sample
from tf2npu.comparison import process_pool
from tf2npu.comparison.comparison import compare
from tf2npu.comparison.rows import Row
from tf2npu.comparison.verdicts import Thresholds


@pytest.fixture
def made(tmp_path) -> Sample:
    sample = Sample(tmp_path)
    rng = np.random.default_rng(1)
    for n in range(60):
        value = rng.normal(size=rng.integers(1, 3000)).astype(np.float32)
        sample.operator(f"n{n}", "Add")
        sample.tensor(f"n{n}", value)
        sample.dump("Add", f"n{n}", [], [value * np.float32(1 + 1e-3 * (n == 40))])
    sample.write_graph()
    return sample


def seen(made: Sample) -> tuple[list, list[str], str]:
    found = compare(made.step, made.reference, graph=made.graph, step=None, thresholds=Thresholds())
    first = found.first_difference()
    assert first is not None and found.with_tensors(first).beside is not None
    rows = [(row.index, row.tensor, row.figures, row.verdict, row.measures) for row in found.rows]
    return rows, sorted(str(error) for error in found.unreadable), first.operator


def test_processes_make_the_rows_of_one(made, monkeypatch):
    path = next(made.step.glob("Add.n7.*"))
    path.write_bytes(path.read_bytes()[:-1])
    alone = seen(made)
    monkeypatch.setattr(process_pool, "_BYTES_WORTH_A_PROCESS", 1000)
    monkeypatch.setattr(process_pool, "default_jobs", lambda: 2)
    monkeypatch.setattr(process_pool.threading, "active_count", lambda: 1)
    called = []
    monkeypatch.setattr(process_pool, "_by_processes", lambda *words: called.append(1) or by_processes(*words))
    assert seen(made) == alone and called and alone[2] == "n40" and path.name in alone[1][0]


by_processes = process_pool._by_processes


def test_the_rows_of_a_process_that_dies_are_made_here():
    main = os.getpid()

    class Deadly:
        unreadable: dict = {}  # noqa: RUF012

        def n_groups(self) -> int:
            return 4

        def n_bytes(self, index: int) -> int:
            return 10 << 20

        def group_rows(self, index: int) -> list[Row]:
            if os.getpid() != main:
                os._exit(1)
            return [Row(index, "Add", "a", "a")]

    assert by_processes(Deadly(), [[0], [1]], 2) == {}
    assert [row.index for row in process_pool.all_rows(Deadly())] == [0, 1, 2, 3]


def test_large_files_stay_in_one_process():
    assert process_pool._chunks([0, 2, 3], [5, 99, 5, 5], 2) == [[0, 2], [3]]
    assert Path(process_pool.__file__).name == "process_pool.py"
