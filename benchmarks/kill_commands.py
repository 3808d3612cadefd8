"""SIGKILL and SIGTERM at random moments of every command that writes, but conversions, which benchmarks/kill_conversion.py has.

    python -m benchmarks.kill_commands --kills 6 [--only COMMAND]

By turns a command is ended with all its processes by SIGKILL, and alone by SIGTERM; by turns there is nothing where it writes, or
what it has written before.  Afterwards the user's files are what they were, each file under a final name is whole in its format,
no process of the command is left, and the same command ends as it does undisturbed.  After SIGTERM there is no draft either, no
temporary file and no traceback.  Exit code 1 for any fault.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks.kill_conversion import end
from npu_formats.vendor.dump_file import read_header

TRAINING = """
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 8], "x")
loss = tf.reduce_mean(tf.square(tf.layers.dense(tf.layers.dense(x, 16, tf.nn.relu), 1)), name="loss")
step = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
draw = np.random.RandomState(1)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for _ in range(6):
        print(session.run([loss, step], {x: draw.rand(4, 8)})[0])
"""
DUMPED = ("--option", "enable_dump=True", "--option", "dump_path=dump", "--option", "dump_mode=all")
COMMANDS: dict[str, tuple[str, ...]] = {
    "scan": ("scan", "train.py", "--report", "scanned", "--format", "html,json,sarif,csv"),
    "report": ("report", "out/tf2npu-report/report.json", "--report", "rendered", "--format", "html,json,sarif"),
    "report of one file": ("report", "out/tf2npu-report/report.json", "--report", "single", "--single-file"),
    "run with a report": ("run", "--report", "out/tf2npu-report", "out/train.py"),
    "run with a profile": ("run", "--profile", "profiled", "out/train.py"),
    "run with a dump": ("run", *DUMPED, "out/train.py"),
    "run on two devices": ("run", "--devices", "2", "--report", "ranks.json", "out/train.py"),
    "profile": ("profile", "PROF", "--report", "profile", "--json", "profile.json"),
    "predict": ("predict", "train.py", "--report", "predicted", "--json", "predicted.json"),
    "tune": ("tune", "train.py", "--json", "tuned.json"),
    "bank export": ("bank", "export", "bank.json"),
    "bank merge": ("bank", "merge", "other.json"),
    "check": ("check", "train.py", "--out", "checked"),
    "dump reference": ("dump", "reference", "train.py", "--out", "reference"),
    "dump npy": ("dump", "npy", "DUMP", "arrays"),
    "compare": ("compare", "DUMP", "REFERENCE", "--out", "compared"),
}
REFUSES_FILES = {"dump reference": "reference", "dump npy": "arrays"}
"""Folders that must be new or empty: their commands mix nothing with what an earlier run has left, and say so."""
DRAFTS = (".draft-", ".tf2npu-draft-")
"""Beginnings of the names of files that are not whole yet."""
MARK = "TF2NPU_TRIAL"
"""The environment variable by which the processes of a command are known."""
_PATIENCE_SECONDS = 30.0
"""Until the processes of a command that was ended are gone: ranks look for each other every few seconds."""


@dataclass(frozen=True)
class Command:
    """words: with PROF, DUMP and REFERENCE for folders below `made`.  after: what the undisturbed command leaves."""

    name: str
    words: tuple[str, ...]
    after: Path
    code: int
    seconds: float


@dataclass
class Tally:
    """Counts over all kills."""

    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


class Place:
    """A folder in which commands run, with a home and temporary files of its own."""

    def __init__(self, root: Path) -> None:
        self.root, self.work, self.temporary = root, root / "work", root / "tmp"
        self.log = root / "log"

    def fill(self, template: Path) -> None:
        """Begin again with what stands in a template."""
        shutil.rmtree(self.root, ignore_errors=True)
        shutil.copytree(template, self.root, symlinks=True)
        self.temporary.mkdir(exist_ok=True)

    def start(self, words: tuple[str, ...], mark: str = "") -> subprocess.Popen[bytes]:
        """A command in a session of its own."""
        home = {name: str(self.root / "home") for name in ("HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")}
        bank = {"TUNE_BANK_PATH": str(self.root / "bank"), "TMPDIR": str(self.temporary), MARK: mark}
        command = [str(Path(sys.executable).with_name("tf2npu")), *words]
        with self.log.open("wb") as log:
            return subprocess.Popen(
                command, cwd=self.work, env={**os.environ, **home, **bank}, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip

    def finish(self, words: tuple[str, ...]) -> int:
        """Run a command to its end; its exit code."""
        return self.start(words).wait()


def template(place: Place) -> Path:
    """A project with its conversion, a profile, a dump, a reference and two banks: what each command begins with."""
    for folder in (place.work, place.temporary, place.root / "home", place.root / "bank"):
        folder.mkdir(parents=True)
    (place.work / "train.py").write_text(TRAINING)
    made = (
        ("convert", "train.py", "out"),
        ("run", "--profile", "made", *DUMPED, "out/train.py"),
        ("dump", "reference", "train.py", "--out", "made/reference"),
        ("tune", "train.py"),
        ("bank", "export", "other.json"),
    )
    for words in made:
        (place.work / "dump").mkdir(exist_ok=True)
        if code := place.finish(words):
            raise SystemExit(f"{' '.join(words)} ended with {code}:\n{place.log.read_text()}")
    shutil.move(place.work / "dump", place.work / "made/dump")
    (place.work / "dump").mkdir()
    return place.root


def with_folders(words: tuple[str, ...], work: Path) -> tuple[str, ...]:
    """The words of a command, with what the template has for PROF, DUMP and REFERENCE."""
    profile = next((work / "made").glob("PROF_*"))
    dump = max((work / "made/dump").glob("*/*/*/*/*"), key=lambda step: len(list(step.iterdir())))
    places = {"PROF": profile, "DUMP": dump, "REFERENCE": work / "made/reference"}
    return tuple(str(places[word].relative_to(work)) if word in places else word for word in words)


def undisturbed(name: str, before: Path, place: Place, after: Path) -> Command:
    """A command with what it leaves, which goes to `after`, and how long it takes the second time, with warm caches."""
    for _ in range(2):
        place.fill(before)
        words = with_folders(COMMANDS[name], place.work)
        began = time.perf_counter()
        code = place.finish(words)
        seconds = time.perf_counter() - began
    if code not in (0, 1):
        raise SystemExit(f"{name} ended with {code}:\n{place.log.read_text()}")
    shutil.copytree(place.root, after, symlinks=True)
    return Command(name, words, after, code, seconds)


def disturb(command: Command, place: Place, how: signal.Signals, seconds: float, mark: str) -> bool:
    """Run a command and end it after so long; False when it was done before."""
    process = place.start(command.words, mark)
    try:
        process.wait(seconds)
        return False
    except subprocess.TimeoutExpired:
        pass
    if how == signal.SIGKILL:
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.terminate()
    process.wait(_PATIENCE_SECONDS)
    return True


def faults_of(command: Command, place: Place, how: signal.Signals, mark: str) -> Iterator[str]:
    """The faults behind a signal."""
    if left := _processes(mark):
        yield f"{len(left)} processes are left: {left[0]}"
    if (place.work / "train.py").read_text() != TRAINING:
        yield "the script has changed"
    for path in _files(place.work):
        if fault := _fault(path):
            yield f"{path.relative_to(place.work)}: {fault}"
    if how == signal.SIGTERM:
        drafts = [path.name for path in place.work.rglob("*") if path.name.startswith(DRAFTS)]
        temporary = [path.name for path in place.temporary.iterdir()]
        yield from (f"{name} is left" for name in (*drafts, *temporary))
        if "Traceback" in place.log.read_text(errors="replace"):
            yield f"a traceback: {place.log.read_text(errors='replace')[-300:]}"


def _processes(mark: str) -> list[str]:
    """Command lines of the processes of a command, once it has had the time to end."""
    until = time.monotonic() + _PATIENCE_SECONDS
    while found := list(_marked(mark)):
        if time.monotonic() > until:
            return found
        time.sleep(0.1)
    return []


def _marked(mark: str) -> Iterator[str]:
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                yield (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        except OSError:
            continue


def _files(work: Path) -> Iterator[Path]:
    """Those under final names."""
    for path in sorted(work.rglob("*")):
        if path.is_file() and not any(part.startswith(DRAFTS) for part in path.relative_to(work).parts):
            yield path


def _fault(path: Path) -> str:
    """The reason that a file is not whole; empty where it is."""
    try:
        _READERS.get(path.suffix, _any)(path)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def _html(path: Path) -> None:
    if not path.read_text(encoding="utf-8").rstrip().endswith("</html>"):
        raise ValueError("the end is missing")


def _csv(path: Path) -> None:
    with path.open(newline="", encoding="utf-8-sig") as stream:
        widths = {len(row) for row in csv.reader(stream, strict=True)}
    if not path.read_bytes().endswith(b"\n") or len(widths) > 1:
        raise ValueError("a line is cut")


def _any(path: Path) -> None:
    if "dump" in path.parts and not path.suffix.startswith((".csv", ".json")) and path.name.count(".") >= 4:
        read_header(path)


_READERS: dict[str, Callable[[Path], object]] = {
    ".json": lambda path: json.loads(path.read_text(encoding="utf-8")),
    ".sarif": lambda path: json.loads(path.read_text(encoding="utf-8")),
    ".npy": np.load,
    ".html": _html,
    ".csv": _csv,
    ".py": lambda path: compile(path.read_text(encoding="utf-8"), str(path), "exec"),
}


def run(names: list[str], kills: int, seed: int, folder: Path) -> Tally:
    """Disturb each of the commands so often."""
    chance, tally = random.Random(seed), Tally()
    place = Place(folder / "place")  # the one of all commands: what is known of a folder goes by its path
    before = shutil.copytree(template(place), folder / "template", symlinks=True)
    for name in names:
        command = undisturbed(name, before, place, folder / f"after {name}")
        for number in range(kills):
            how = (signal.SIGKILL, signal.SIGTERM)[number % 2]
            mark = f"{os.getpid()}-{name}-{number}"
            place.fill(before if number % 4 < 2 else command.after)
            was_ended = disturb(command, place, how, chance.uniform(0.3, 1.0) * command.seconds, mark)
            found = list(faults_of(command, place, how, mark))
            if name in REFUSES_FILES:
                shutil.rmtree(place.work / REFUSES_FILES[name], ignore_errors=True)
            if (code := place.finish(command.words)) != command.code:
                found.append(f"rerun ends with {code}: {place.log.read_text(errors='replace')[-300:]}")
            tally.counts[how.name if was_ended else "done before"] += 1
            tally.faults += [f"{name}, {how.name} {number}: {fault}" for fault in found]
        own = [fault for fault in tally.faults if fault.startswith(f"{name}, ")]
        print("\n  ".join([f"{name}: {command.seconds:.1f} s, {kills} times; faults: {len(own)}", *own]), flush=True)
    return tally


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--kills", type=int, default=6, help="of each command")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--only", choices=COMMANDS, action="append", help="this command; may be repeated")
    asked = options.parse_args()
    with tempfile.TemporaryDirectory() as name:
        tally = run(asked.only or list(COMMANDS), asked.kills, asked.seed, Path(name).resolve())
    print(", ".join(f"{count} {what}" for what, count in sorted(tally.counts.items())))
    end(tally.faults)


if __name__ == "__main__":
    main()
