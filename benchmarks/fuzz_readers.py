"""Damaged files through every reader of files that others write: exit code 0 to 3, no traceback, in time and memory.

    python -m benchmarks.fuzz_readers [--trials 20000] [--seed 1] [--only WORD] [--keep DIR] [--jobs N]

The readers are listed in benchmarks/fuzzing/readers.py. Each runs in a process of its own with 4 GB of address space more than
it begins with.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from benchmarks.fuzzing.reader_trials import failures, name_of
from benchmarks.fuzzing.readers import readers

_MOST_MORE_BYTES = 4 << 30
_SHOWN = 5
"""Failures of a reader that are shown, each kind once."""


def tried(name: str, trials: int, seed: int, keep: Path | None) -> tuple[str, Counter[str], float]:
    """The failures of a reader by kind, and the seconds that its trials took."""
    reader = next(one for one in readers() if one.name == name)
    started, counts = time.monotonic(), Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        for place in ("HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
            os.environ[place] = f"{folder}/{place}"
        _limit_memory()
        for told, path, content in failures(reader, trials, seed, Path(folder) / "files"):
            counts[told.replace(folder, "")] += 1
            if keep is not None:
                keep.mkdir(parents=True, exist_ok=True)
                (keep / f"{name_of(content)}-{path.name}").write_bytes(content)
    return name, counts, time.monotonic() - started


def _limit_memory() -> None:
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + _MOST_MORE_BYTES, resource.getrlimit(resource.RLIMIT_AS)[1]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="readers with this word in their name")
    parser.add_argument("--keep", type=Path, help="where files go that failed")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    given = parser.parse_args()
    names = [one.name for one in readers() if given.only in one.name]
    n_failed = 0
    context = multiprocessing.get_context("spawn")  # no reader finds what another has left in the process
    with ProcessPoolExecutor(given.jobs, mp_context=context, max_tasks_per_child=1) as pool:
        for done in [pool.submit(tried, name, given.trials, given.seed, given.keep) for name in names]:
            name, counts, seconds = done.result()  # an assertion says that a valid file is none
            n_failed += counts.total()
            print(f"{name}: {given.trials} damaged files, {counts.total()} failed, {seconds:.0f} s", flush=True)
            for told, count in counts.most_common(_SHOWN):
                print(f"    {count} x {told}", flush=True)
    return int(n_failed > 0)


if __name__ == "__main__":
    sys.exit(main())
