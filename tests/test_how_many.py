"""`make test` leaves out nothing that `make whole` does not run, and runs each function that is not left out for a reason."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import how_many

ROOT = Path(__file__).parents[1]
MADE = """
import pytest
from tests.how_many import drawn, some

@pytest.mark.parametrize("n", some(range(6), 3))
def test_some(n): pass

@pytest.mark.whole(beyond=2)
@pytest.mark.parametrize("n", range(4))
def test_first(n): pass

@pytest.mark.whole(but=("2", "x*"))
@pytest.mark.parametrize("n", [1, 2, "xy"])
def test_named(n): pass

@pytest.mark.whole
def test_repeats(): pass

def test_plain(): assert drawn(100) in (25, 100)
"""
IN_MAKE_TEST = ["some[0]", "some[3]", "first[0]", "first[1]", "named[2]", "named[xy]", "plain"]
"""What stays of them."""


def collected(folder: Path, **variables: str) -> list[str]:
    options = ["-q", "-p", "tests.conftest", "-p", "no:cacheprovider", "--collect-only", "--rootdir", folder]
    environment = {name: value for name, value in os.environ.items() if name != "TF2NPU_WHOLE_TESTS"} | variables
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "pytest", *options, folder]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return [line.partition("::test_")[2] for line in done.stdout.splitlines() if "::" in line]


def test_a_whole_run_has_all_that_a_short_one_has_and_all_that_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "test_made.py").write_text(MADE, encoding="utf-8")
    short, whole = collected(tmp_path), collected(tmp_path, TF2NPU_WHOLE_TESTS="1")
    assert short == IN_MAKE_TEST
    assert set(short) < set(whole)
    assert len(whole) == 6 + 4 + 3 + 1 + 1


@pytest.mark.parametrize("whole", [1, 4, 7, 100])
def test_a_short_run_draws_and_takes_no_more_than_a_whole_one(whole: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(how_many, "IS_WHOLE", False)
    drawn, some = how_many.drawn(whole), how_many.some(range(whole))
    assert 1 <= drawn <= whole and some and set(some) <= set(range(whole))
    monkeypatch.setattr(how_many, "IS_WHOLE", True)
    assert (how_many.drawn(whole), how_many.some(range(whole))) == (whole, list(range(whole)))


def test_make_whole_runs_the_folders_that_make_test_runs() -> None:
    """And make acceptance has it, and all of the converter's tests on every Python."""

    def told(goal: str) -> list[str]:
        done = subprocess.run(["make", "--dry-run", goal], cwd=ROOT, capture_output=True, text=True, check=True)
        return [line for line in done.stdout.splitlines() if "pytest" in line or "converter_suite" in line]

    whole, acceptance = told("whole"), told("acceptance")
    assert [line for line in whole if "tests/shim" in line] and set(whole) <= set(acceptance)
    assert [line for line in acceptance if "converter_suite" in line and "each_python" not in line]
