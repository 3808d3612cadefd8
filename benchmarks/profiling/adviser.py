"""Has the vendor's adviser (PyPI: msprof-analyze) read profiles with two planted operators, and looks for their names.

One profile is of a run that is made by hand, the other of the script `scripts/planted.py`.

    python -m benchmarks.profiling.adviser [--adviser COMMAND]

COMMAND is `msprof-analyze`, in an environment of its own, since it pins older libraries than ours; without it the program says so
and ends with 77.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.profiling.real_runs import RealRun, profiles_of
from benchmarks.profiling.vendor_parser import NOT_BROUGHT
from npu_runtime.observers.profiler.collection import write_profile
from npu_runtime.observers.profiler.settings import ProfilingOptions
from tests.profiler import runs

AI_CPU = {"made by hand": "Unique", "script": "RandomUniform"}
"""Type of the only operator on the AI CPU, by profile."""
PRODUCT = "planted/MatMul"
"""The matrix product whose sizes are no multiples of 256."""
PLANTED = RealRun("planted")
"""The script with both."""
_BEGAN_NS = 1_700_000_000_123_456_789
"""Time of day of the profile: any."""


def by_hand(scratch: Path) -> Path:
    """The profile of the run that is made by hand."""
    output = scratch / "by_hand"
    output.mkdir()
    return write_profile(runs.planted(), ProfilingOptions(training_trace=True, aicpu=True), output, _BEGAN_NS).folder


def advice(command: str, profile: Path, scratch: Path) -> str:
    """The output of the adviser and the pages that it writes.  scratch: an empty folder."""
    scratch.mkdir()
    told = scratch / "advice"
    words = [command, "advisor", "all", "-d", profile, "-pt", "msprof", "-l", "en", "-o", told, "--force"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=scratch)
    if done.returncode:
        raise SystemExit(f"the adviser fails:\n{done.stdout}{done.stderr}")
    return done.stdout + "".join(page.read_text(encoding="utf-8") for page in sorted(told.glob("*.html")))


def main() -> int:
    """Look for each planted operator in the advice."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adviser", metavar="COMMAND", default=shutil.which("msprof-analyze"), help="its command")
    command = parser.parse_args().adviser
    if command is None or shutil.which(command) is None:
        print(
            "msprof-analyze is not installed: install it from PyPI in an environment of its own, name it with --adviser COMMAND"
        )
        return NOT_BROUGHT
    is_named = []
    with tempfile.TemporaryDirectory() as scratch:
        profiles = {"made by hand": by_hand(Path(scratch)), "script": profiles_of(PLANTED, Path(scratch) / "script")[0]}
        for number, (kind, profile) in enumerate(profiles.items()):
            told = advice(command, profile, Path(scratch) / str(number))
            for name in (AI_CPU[kind], PRODUCT):
                is_named.append(name in told)
                print(f"{kind}, {name}: {'named' if name in told else 'NOT named'}")
    return 0 if all(is_named) else 1


if __name__ == "__main__":
    sys.exit(main())
