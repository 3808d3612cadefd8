"""SIGKILL at random moments of a conversion: every file must be old or new, and a rerun must equal a clean run.

    python benchmarks/kill_conversion.py --kills 200
    python benchmarks/kill_conversion.py --each-write

Situations by turns: an empty OUT, an OUT that holds the conversion of an earlier version (both with `--data` link, copy and
skip), `--in-place` (followed by turns by a rerun and by `tf2npu undo`) and that undo itself; with one process and with two,
with and without the cache. The project holds links, dangling ones too, and data of more than 10 MB.
Each command runs in a forked process group, so that a moment is one of the command and not of Python's start. --each-write
is the same with a smaller project and a kill before each call that changes a file, so that no moment is left to chance.
Exit code 1 when a file was torn or a rerun differed.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn
from unittest import mock

from tf2npu import cli

N_FILES = 60
N_FILES_OF_EACH = 9
_PADDING = "".join(f"def step_{n}(x):\n    return tf.nn.relu(x) + {n}\n\n" for n in range(4))
_REPORT = ("--format", "json")  # pages would take most of the time, and the kills
_CHANGES = frozenset(f"os.{name}" for name in ("mkdir", "rename", "remove", "rmdir", "chmod", "symlink", "link", "truncate"))
DATA = ("link", "copy", "skip")
State = dict[str, tuple[int, bytes | str | None]]  # path -> mode; digest of a file, target of a link, None for a folder


@dataclass
class Trial:
    """One kind of conversion to be killed: what stands there before, what must stand there afterwards.

    seconds: that it takes undisturbed, where it is killed at a random moment.
    """

    name: str
    before: Path | None  # a folder with what stands there and what is known of it, copied first
    words: tuple[str, ...]
    place: Path  # what is written into
    state: Path  # what the tool remembers
    old: State
    new: State
    seconds: float = 0.0

    def with_options(self, *options: str) -> tuple[str, ...]:
        """The command with options that only a conversion takes."""
        return (*self.words, *options) if self.words[0] == "convert" else self.words


@dataclass
class Tally:
    """Counts over all kills."""

    moments: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


def make_source(root: Path, version: int, n_files: int) -> None:
    """A project of so many files: scripts, a package, data, an executable and a symbolic link."""
    for number in range(n_files - 6):
        path = root / f"pkg{number % 5}" / f"m{number:02}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# version {version}\nimport tensorflow as tf\n\n{_PADDING}with tf.Session() as s:\n    print(s)\n")
    for number in range(4):
        (root / f"data{number}.bin").write_bytes(bytes([number, version]) * 200_000)
    (root / "run.sh").write_text(f"#!/bin/sh\n# version {version}\nexec python pkg0/m00.py\n")
    (root / "run.sh").chmod(0o755)
    (root / "pkg1" / "m01.py").chmod(0o750)
    for name, target in (("alias.py", "pkg0/m00.py"), ("lib", "pkg1"), ("dangling", "nowhere")):
        (root / name).symlink_to(target)
    with (root / "shard.tfrecord").open("wb") as stream:  # more than what is copied by itself
        stream.write(bytes([version]))
        stream.truncate(11 << 20)


def load_converter(folder: Path) -> None:
    """Convert a line in this process: its forks have loaded what that loads.  folder: gets what the conversion writes."""
    here = folder / "loaded"
    here.mkdir()
    (here / "line.py").write_text("import tensorflow as tf\n\ntf.Session()\n")
    homes = {f"XDG_{name}_HOME": str(here) for name in ("CACHE", "STATE")}
    with mock.patch.dict(os.environ, homes), contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        cli.main(["convert", str(here / "line.py"), str(here / "out"), "--no-cache"])


def state_of(root: Path) -> State:
    """The entries of a folder, without our drafts and the report."""
    found: State = {}
    for path in sorted(root.rglob("*")) if root.exists() else ():
        name = path.relative_to(root).as_posix()
        if name.split("/")[0] == "tf2npu-report" or path.name.startswith(".tf2npu-draft-"):
            continue
        mode = path.lstat().st_mode & 0o777
        if path.is_symlink():
            found[name] = (0, os.readlink(path))
        else:
            found[name] = (0, None) if path.is_dir() else (mode, hashlib.sha256(path.read_bytes()).digest())
    return found


def kill_before_change(number: int) -> None:
    """End this process in front of its change of files with this number, counted from 0 (Python's audit events)."""
    seen = 0

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal seen
        if event in _CHANGES or (event == "open" and isinstance(arguments[2], int) and arguments[2] & os.O_ACCMODE):
            seen += 1
            if seen > number:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def start(words: tuple[str, ...], cache: Path, changes: int | None = None) -> int:
    """Run the command in a forked process group of its own; returns its id. changes: how many it may make."""
    pid = os.fork()
    if pid:
        return pid
    code = 70
    try:
        os.setsid()
        os.environ.update(XDG_CACHE_HOME=str(cache), XDG_STATE_HOME=str(state_home(cache)))
        os.chdir(cache)
        for stream in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
        if changes is not None:
            kill_before_change(changes)
        cli.main(list(words))
    except SystemExit as stopped:
        code = stopped.code if isinstance(stopped.code, int) else 70
    finally:
        os._exit(code)


def finish(words: tuple[str, ...], cache: Path) -> int:
    """Run the command to its end; returns its exit code."""
    return os.waitstatus_to_exitcode(os.waitpid(start(words, cache), 0)[1])


def kill_after(words: tuple[str, ...], cache: Path, seconds: float) -> bool:
    """Run the command and kill its process group after so long; False when it was done before."""
    pid = start(words, cache)
    time.sleep(seconds)
    was_done = os.waitpid(pid, os.WNOHANG)[0] != 0
    if not was_done:
        try:
            os.killpg(pid, signal.SIGKILL)
        except ProcessLookupError:  # before its setsid
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    return not was_done


def state_home(cache: Path) -> Path:
    """The folder in which the conversions of a trial keep what they know of their folders."""
    return cache.parent / "state"


def keep(place: Path, kept: Path, cache: Path) -> Path:
    """Put aside what stands in a place and what is known of it."""
    shutil.copytree(place, kept / "tree", symlinks=True)
    shutil.copytree(state_home(cache), kept / "state", symlinks=True)
    return kept


def restore(trial: Trial) -> None:
    """Put back what stands there before the conversion, and what is known of it."""
    for part, place in (("tree", trial.place), ("state", trial.state)):
        shutil.rmtree(place, ignore_errors=True)
        if trial.before is not None:
            shutil.copytree(trial.before / part, place, symlinks=True)


def trials(folder: Path, cache: Path, n_files: int, disk: Path, ways: tuple[str, ...] = DATA) -> list[Trial]:
    """The situations, each with its states.  disk: where they write.  ways: of --data."""
    load_converter(folder)
    first, second, out, live, state = folder / "v1", folder / "v2", disk / "out", disk / "live", state_home(cache)
    make_source(first, 1, n_files)
    make_source(second, 2, n_files)
    must(finish(("convert", str(first), str(out)), cache))
    stale, old = keep(out, folder / "stale", cache), state_of(out)
    new = {data: clean(second, folder / f"clean-{data}", data, cache) for data in ways}
    source, converted = state_of(second), clean(second, folder / "clean", "copy", cache)
    shutil.rmtree(state)
    state.mkdir()
    shutil.copytree(second, live, symlinks=True)
    plain = keep(live, folder / "plain", cache)
    words = ("convert", str(second), str(out), *_REPORT, "--data")
    in_place = ("convert", str(live), "--in-place", "--report", str(live / "tf2npu-report"), *_REPORT)
    must(finish(in_place, cache))
    return [
        *(Trial(f"into an empty OUT, data: {data}", None, (*words, data), out, state, {}, new[data]) for data in ways),
        Trial("in place", plain, in_place, live, state, source, converted),
        *(Trial(f"over an earlier OUT, data: {data}", stale, (*words, data), out, state, old, new[data]) for data in ways),
        Trial("undoing", keep(live, folder / "done", cache), ("undo", str(live)), live, state, converted, source),
    ]


def clean(source: Path, out: Path, data: str, cache: Path) -> State:
    """The result of a conversion that nobody disturbs."""
    must(finish(("convert", str(source), str(out), *_REPORT, "--data", data), cache))
    return state_of(out)


def undisturbed(trial: Trial, cache: Path) -> float:
    """Seconds that the conversion takes."""
    restore(trial)
    began = time.perf_counter()
    must(finish(trial.with_options("--no-cache"), cache))
    return time.perf_counter() - began


def must(code: int) -> None:
    if code:
        raise SystemExit(f"a conversion that nobody disturbed ended with exit code {code}")


def check_killed(trial: Trial, number: int, tally: Tally) -> None:
    """Every file is the old or the new one; a file of OUT may also not be there yet."""
    found = state_of(trial.place)
    torn = [name for name, content in found.items() if content not in (trial.old.get(name), trial.new.get(name))]
    lost = [name for name in trial.old if name not in found and name in trial.new]
    tally.faults += [f"kill {number}, {trial.name}: torn {name}" for name in torn]
    tally.faults += [f"kill {number}, {trial.name}: lost {name}" for name in lost]
    n_new = sum(1 for name, content in found.items() if content == trial.new.get(name) != trial.old.get(name))
    n_all = sum(1 for name, content in trial.new.items() if content != trial.old.get(name))
    tally.moments["nothing written yet" if not n_new else "in the middle" if n_new < n_all else "all written"] += 1


def check_after(trial: Trial, number: int, after: int, cache: Path, tally: Tally) -> None:
    """A rerun (after: 1) gives what a clean run gives; after an undo in place (0) everything is as it was."""
    undoes = "--in-place" in trial.words and not after
    code = finish(("undo", str(trial.place)) if undoes else trial.words, cache)
    if code or state_of(trial.place) != (trial.old if undoes else trial.new):
        tally.faults.append(f"kill {number}, {trial.name}: {'undo' if undoes else 'rerun'} differs (exit code {code})")
    left = [path.name for path in trial.place.rglob(".tf2npu-draft-*") if path.parent.name != "tf2npu-report" or not undoes]
    state = {path.name for path in state_home(cache).rglob("*")}
    left += sorted(state & ({"journal", "undo"} if undoes or trial.words[0] == "undo" else {"staged"}))
    if "--in-place" not in trial.words and "journal" in state:
        left.append("journal")
    if left:
        tally.faults.append(f"kill {number}, {trial.name}: {', '.join(sorted(set(left)))} is left")


def run(kills: int, seed: int, folder: Path) -> Tally:
    """Convert until so many conversions were killed; what is done before its moment comes is checked and not counted."""
    chance, tally = random.Random(seed), Tally()
    caches = [folder / "cache", folder / "killed-cache"]
    for cache in caches:
        cache.mkdir()
    kinds = trials(folder, caches[0], N_FILES, folder)
    for kind in kinds:
        kind.seconds = min(undisturbed(kind, caches[0]) for _ in range(3))
    number = 0
    while tally.moments["killed"] < kills:
        trial = kinds[number % len(kinds)]
        restore(trial)
        cached = chance.random() < 0.25
        if cached:
            shutil.rmtree(caches[1])
            caches[1].mkdir()
        words = trial.with_options("--jobs", str(chance.choice((1, 2))), *(() if cached else ("--no-cache",)))
        was_killed = kill_after(words, caches[1], chance.uniform(0, 1.2 * trial.seconds))
        check_killed(trial, number, tally)
        check_after(trial, number, number % 2, caches[cached], tally)
        tally.moments["killed" if was_killed else "done before the kill"] += 1
        number += 1
    return tally


def run_each_write(folder: Path, data: str, every: int) -> Tally:
    """Kill each kind of conversion in front of its changes of files; in place, followed by a rerun and by an undo.

    every: only in front of each so-manieth, where another kind of conversion starts with another one.
    """
    tally, cache = Tally(), folder / "cache"
    cache.mkdir()
    ways = (data,) if data else DATA
    for number_of_trial, trial in enumerate(trials(folder, cache, N_FILES_OF_EACH, folder, ways)):
        for after in (0, 1) if "--in-place" in trial.words else (1,):
            number, was_killed = number_of_trial % every, True
            while was_killed:
                restore(trial)
                words = trial.with_options("--jobs", "1", "--no-cache")
                _, status = os.waitpid(start(words, cache, number), 0)
                was_killed = os.waitstatus_to_exitcode(status) == -signal.SIGKILL
                check_killed(trial, number, tally)
                check_after(trial, number, after, cache, tally)
                tally.moments["killed" if was_killed else "done"] += 1
                number += every
    return tally


def end(faults: list[str]) -> NoReturn:
    """Say what went wrong, and exit with 1 where anything did."""
    print(f"faults: {len(faults)}")
    for fault in faults[:20]:
        print(" ", fault)
    sys.exit(1 if faults else 0)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--kills", type=int, default=200)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--each-write", action="store_true", help="in front of each change of a file instead")
    options.add_argument("--every", type=int, default=1, metavar="N", help="with --each-write: in front of every Nth change")
    options.add_argument("--data", choices=DATA, help="with --each-write: only this way of --data")
    asked = options.parse_args()
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        tally = run_each_write(folder, asked.data, asked.every) if asked.each_write else run(asked.kills, asked.seed, folder)
    seen = ", ".join(f"{count} {what}" for what, count in sorted(tally.moments.items()))
    n_files = N_FILES_OF_EACH if asked.each_write else N_FILES
    print(f"kills of conversions of {n_files} files in {time.perf_counter() - began:.0f} s: {seen}")
    end(tally.faults)


if __name__ == "__main__":
    main()
