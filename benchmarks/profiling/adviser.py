"""Has the vendor's adviser (PyPI: msprof-analyze) read profiles with two planted operators, and looks for their names.

One profile is of a run that is made by hand, one of the script `scripts/planted.py`, and one is a folder of torch_npu's profiler.

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
from npu_runtime.observers.profiler.eager.eager_profile import EagerOptions, eager_profile
from npu_runtime.observers.profiler.eager.folder import write_folder
from npu_runtime.observers.profiler.settings import ProfilingOptions
from tests.profiler import eager_runs, runs

PLANTED_OPERATORS = {
    "made by hand": ("Unique", "planted/MatMul"), "script": ("RandomUniform", "planted/MatMul"),
    "PyTorch": ("UniqueWithCountsAndSorting", "aten::mm_239"),
}  # fmt: skip
"""Type of an operator on the AI CPU and name of a matrix product whose sizes are no multiples of 256, by profile."""
PLANTED = RealRun("planted")
"""The script with both."""
_BEGAN_NS = 1_700_000_000_123_456_789
"""Time of day of the profile: any."""


def by_hand(scratch: Path) -> Path:
    """The profile of the run that is made by hand."""
    output = scratch / "by_hand"
    output.mkdir()
    return write_profile(runs.planted(), ProfilingOptions(training_trace=True, aicpu=True), output, _BEGAN_NS).folder


def of_pytorch(scratch: Path) -> Path:
    """The folder of torch_npu's profiler."""
    options = EagerOptions(level="Level1", aic_metrics="PipeUtilization", record_shapes=True, with_stack=True)
    return write_folder(eager_profile(eager_runs.planted().record(), options, [1, 2, 3]), scratch / "pytorch", "host", _BEGAN_NS)


def advice(command: str, profile: Path, scratch: Path) -> str:
    """The output of the adviser and the pages that it writes.  scratch: an empty folder."""
    scratch.mkdir()
    told = scratch / "advice"
    kind = ["-pt", "msprof"] if profile.name.startswith("PROF") else []
    words = [command, "advisor", "all", "-d", profile, *kind, "-l", "en", "-o", told, "--force"]
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
        profiles = {"made by hand": by_hand(Path(scratch)), "PyTorch": of_pytorch(Path(scratch))}
        profiles["script"] = profiles_of(PLANTED, Path(scratch) / "script")[0]
        for number, (kind, profile) in enumerate(profiles.items()):
            told = advice(command, profile, Path(scratch) / str(number))
            for name in PLANTED_OPERATORS[kind]:
                is_named.append(name in told)
                print(f"{kind}, {name}: {'named' if name in told else 'NOT named'}")
    return 0 if all(is_named) else 1


if __name__ == "__main__":
    sys.exit(main())
