"""SIGKILL at random moments of a conversion; `benchmarks/kill_conversion.py --kills 200` is the long form."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "kill_conversion.py"


def test_each_change_of_a_file_may_be_the_last():
    done = subprocess.run([sys.executable, SCRIPT, "--each-write"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "faults: 0" in done.stdout


def test_each_file_is_old_or_new_and_a_rerun_equals_a_clean_run():
    done = subprocess.run([sys.executable, SCRIPT, "--kills", "10"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "faults: 0" in done.stdout
