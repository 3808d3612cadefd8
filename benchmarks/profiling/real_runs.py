"""Runs the scripts of `benchmarks/profiling/scripts` under `tf2npu run --profile`: their profiles, and what they must have."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


@dataclass(frozen=True)
class RealRun:
    """script: name below scripts/.  words: more options of `tf2npu run`.  n_profiles: folders that it writes."""

    script: str
    words: tuple[str, ...] = ()
    n_profiles: int = 1


RUNS = (
    RealRun("lenet"),
    RealRun("three_graphs"),
    RealRun("sunk_loop"),
    RealRun("while_loop"),
    RealRun("planted"),
    RealRun("resnet20_ranks", ("--devices", "2"), 2),
)
"""Runs that are compared with the vendor's parser."""


def profiles_of(run: RealRun, folder: Path) -> Sequence[Path]:
    """The profiles that a run writes below an empty folder.  Raises: SystemExit for a run that fails."""
    script = HERE / "scripts" / f"{run.script}.py"
    words = [sys.executable, "-m", "tf2npu", "run", *run.words, "--profile", folder, script]
    path = os.pathsep.join(filter(None, (str(ROOT), str(ROOT / "tf2npu"), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(words, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": path})
    found = sorted(folder.glob("PROF_*"))
    if done.returncode or len(found) != run.n_profiles:
        raise SystemExit(f"{script} ends with {done.returncode} and {len(found)} profiles:\n{done.stdout}{done.stderr}")
    return found


def all_profiles(folder: Path) -> Iterator[tuple[str, Path]]:
    """A name and a folder for each profile of each run, written below an empty folder."""
    for run in RUNS:
        for number, profile in enumerate(profiles_of(run, folder / run.script)):
            yield f"{run.script}.py, device {number}" if run.n_profiles > 1 else f"{run.script}.py", profile
