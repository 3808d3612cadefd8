"""The programs that compare profiles with the vendor's tools see a difference, and say what is missing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.profiling.vendor_parser import differences

TABLE = [["Device_id", "Op Name", "Task Wait Time(us)"], ["0", "conv", "0.5"], ["0", "relu", "N/A"]]


def test_tables_that_agree_have_no_differences():
    assert list(differences(TABLE, [list(row) for row in TABLE])) == []
    assert list(differences([[*row, "1"] for row in [["x"], ["2"]]], [["x"], ["2"]], ["1"])) == []


@pytest.mark.parametrize(
    ("theirs", "words"),
    [
        ([TABLE[0], ["0", "conv", "0.501"], TABLE[2]], ["row 1", "Task Wait Time(us)", "'0.5'", "'0.501'"]),
        ([TABLE[0], TABLE[1]], ["row 2", "Device_id"]),
        ([["Device_id", "Op Name", "Wait"], *TABLE[1:]], ["row 0", "'Wait'"]),
    ],
)
def test_each_difference_is_told_by_row_and_column(theirs, words):
    found = list(differences(TABLE, theirs))
    assert found and all(word in found[0] for word in words)


@pytest.mark.parametrize("program", ["vendor_parser", "adviser"])
def test_what_is_missing_is_said_and_ends_with_77(program: str):
    words = [sys.executable, "-m", f"benchmarks.profiling.{program}"]
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, env={"PATH": "/nowhere"}, cwd=Path(__file__).parents[2]
    )
    assert done.returncode == 77
    assert "checkout of github.com/Ascend/msprof" in done.stdout or "install it from PyPI" in done.stdout
