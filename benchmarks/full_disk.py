"""Conversions that run out of disk: every original must stay whole, every file of OUT be old or new.

    python -m benchmarks.full_disk --trials 200          (as root: it mounts small file systems in a mount namespace)

Each trial has a file system of 256 KB to 2 MB with the folder that is written into; by chance it also holds what the tool
remembers of it. After the conversion there is room, and a rerun must give what a clean run gives. Situations and projects are
those of `kill_conversion.py`, links, 11 MB of data and every way of `--data` among them. Exit code 1 when a file was torn, an
original changed or a rerun differed.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks import kill_conversion as kills
from benchmarks.kill_conversion import Tally, Trial

SMALLEST_KB, LARGEST_KB = 256, 2048
ROOM_KB = 65536
"""Enough for all that a conversion writes."""
N_FILES = 40
INSIDE = "TF2NPU_INSIDE_MOUNT_NAMESPACE"


@contextmanager
def small_disk(place: Path, n_kb: int) -> Iterator[None]:
    """A file system of this size at a folder, for the time of the block."""
    place.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={n_kb}k", "tmpfs", place], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", place], check=True)


def used_kb(place: Path) -> int:
    """The used space of the file system."""
    disk = os.statvfs(place)
    return (disk.f_blocks - disk.f_bfree) * disk.f_frsize // 1024


def resize(place: Path, n_kb: int) -> None:
    subprocess.run(["mount", "-o", f"remount,size={n_kb}k", place], check=True)


def run_one(trial: Trial, number: int, chance: random.Random, cache: Path, tally: Tally) -> None:
    """One conversion with too little room, and a rerun with enough."""
    disk = cache.parent / "disk"
    with small_disk(disk, ROOM_KB):
        kills.restore(trial)
        if chance.random() < 0.5:
            move_to(disk, trial.state)
        resize(disk, used_kb(disk) + chance.randint(SMALLEST_KB // 8, LARGEST_KB))
        code = kills.finish(trial.with_options("--no-cache", "--jobs", str(chance.choice((1, 2)))), cache)
        tally.moments[f"ended with {code}"] += 1
        if code not in (0, 2, 3):
            tally.faults.append(f"trial {number}, {trial.name}: exit code {code}")
        kills.check_killed(trial, number, tally)
        resize(disk, ROOM_KB)
        kills.check_after(trial, number, 1, cache, tally)
    if trial.state.is_symlink():
        trial.state.unlink()


def move_to(disk: Path, state: Path) -> None:
    """Let what the tool remembers be on the small disk too; a person's state folder may be a link."""
    if state.exists():
        shutil.copytree(state, disk / "state", symlinks=True)
        shutil.rmtree(state)
    else:
        (disk / "state").mkdir()
    state.symlink_to(disk / "state")


def run(trials: int, seed: int, folder: Path) -> Tally:
    """By turns every situation, with the tool's state on the small disk or elsewhere."""
    chance, tally, cache = random.Random(seed), Tally(), folder / "cache"
    cache.mkdir()
    sources: dict[Path, kills.State] = {}
    with small_disk(folder / "disk", ROOM_KB):  # the places must be those of the trials, as records go by them
        kinds = kills.trials(folder, cache, N_FILES, folder / "disk")
    for name in ("v1", "v2"):
        sources[folder / name] = kills.state_of(folder / name)
    for number in range(trials):
        run_one(kinds[number % len(kinds)], number, chance, cache, tally)
        for source, before in sources.items():
            if kills.state_of(source) != before:
                tally.faults.append(f"trial {number}: an original in {source.name} changed")
                return tally
    return tally


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--trials", type=int, default=200)
    options.add_argument("--seed", type=int, default=1)
    asked = options.parse_args()
    if INSIDE not in os.environ:
        if os.geteuid() != 0 or not shutil.which("unshare"):
            sys.exit("full_disk needs root and unshare, to mount small file systems: nothing was tried")
        os.environ[INSIDE] = "1"
        os.execvp("unshare", ["unshare", "-m", sys.executable, "-m", "benchmarks.full_disk", *sys.argv[1:]])
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        tally = run(asked.trials, asked.seed, Path(name).resolve())
    seen = ", ".join(f"{count} {what}" for what, count in sorted(tally.moments.items()))
    print(f"conversions without room in {time.perf_counter() - began:.0f} s: {seen}")
    kills.end(tally.faults)


if __name__ == "__main__":
    main()
