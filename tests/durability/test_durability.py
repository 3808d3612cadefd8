"""Conversions that are killed, run out of disk, meet another or a hostile tree.

`make faults` kills before each change of a file, and has many times as many of the others.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.how_many import IS_WHOLE

ROOT = Path(__file__).parents[2]


def faultless(module: str, *options: str) -> str:
    """Run a benchmark, which counts what went wrong; what it printed."""
    words = [sys.executable, "-m", f"benchmarks.{module}", *options]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "faults: 0" in done.stdout
    return done.stdout


def test_any_change_of_a_file_may_be_the_last():
    faultless("kill_conversion", "--each-write", "--data", "link", "--every", "5" if IS_WHOLE else "30")


@pytest.mark.whole
def test_each_file_is_old_or_new_and_a_rerun_equals_a_clean_run():
    faultless("kill_conversion", "--kills", "2")


def test_a_disk_without_room_costs_no_original_and_no_whole_file(needs_root):
    faultless("full_disk", "--trials", "2" if IS_WHOLE else "1")


def test_two_conversions_at_once_never_mix():
    faultless("simultaneous_conversions", "--pairs", "2")


def test_nothing_outside_changes_whatever_is_planted():
    faultless("planted_trees", "--plantings", "5" if IS_WHOLE else "2")
