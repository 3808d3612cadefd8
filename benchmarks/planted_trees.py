"""Hostile entries at every path that a command opens: nothing outside of the folders that it was given may change.

    python -m benchmarks.planted_trees --plantings 2000

An undisturbed run of each command tells which paths it looks at. Then, again and again, something is planted at one of them
(links to a file and to a folder outside, dangling links, named pipes, sockets, devices, hard links, other owners, odd modes,
folders where files are expected and the other way round) and the command runs in a process of its own. All that lies outside
of its folders must keep its bytes, modes, owners and times; the exit code must be 0 to 3, without a traceback and without
hanging; and the original that somebody else holds by another name must stay. Exit code 1 when one of these did not hold.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import socket
import stat
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.kill_conversion import end, load_converter
from npu_formats.files.directory import Directory
from tf2npu import cli

PATIENCE_SECONDS = 30
"""A command takes a tenth of a second; the machine may be busy."""
NOBODY = 65534
SESSION = "import tensorflow as tf\n\nwith tf.Session() as sess:\n    print(sess.run(tf.constant(1)))\n"
Snapshot = dict[str, tuple[object, ...]]


@dataclass(frozen=True)
class Command:
    """words: with which it is called in the box.  before: commands that make what it works on.  writes: folders it may change."""

    name: str
    words: tuple[str, ...]
    writes: tuple[str, ...]
    before: tuple[tuple[str, ...], ...] = ()


_REPORT = ("--report", "rep", "--jobs", "1")
COMMANDS = (
    Command("convert", ("convert", "src", "out", *_REPORT, "--data", "copy"), ("out", "rep")),
    Command("convert again", ("convert", "src", "out", *_REPORT), ("out", "rep"), (("convert", "old", "out", *_REPORT),)),
    Command("convert by force", ("convert", "src", "out", *_REPORT, "--force"), ("out", "rep"), (("convert", "old", "out"),)),
    Command("in place", ("convert", "src", "--in-place", *_REPORT), ("src", "rep")),
    Command("undo", ("undo", "src"), ("src",), (("convert", "src", "--in-place", *_REPORT),)),
    Command("undo by force", ("undo", "src", "--force"), ("src",), (("convert", "src", "--in-place", *_REPORT),)),
    Command("scan", ("scan", "src", *_REPORT), ("rep",), (("scan", "old", *_REPORT),)),
    Command("scan here", ("scan", "src", "--baseline", "known.json", "--write-baseline"), ("tf2npu-report", "known.json")),
    Command("report", ("report", "rep/report.json", "--format", "html,text"), ("rep",), (("scan", "src", *_REPORT),)),
)
RUN = Command("run", ("run", "--report", "rep", "job.py"), ("rep",), (("scan", "src", *_REPORT),))
RANKS = Command("run of ranks", ("run", "--devices", "2", "--report", "rep", "job.py"), ("rep",), (("scan", "src", *_REPORT),))
NAMES_OF_STATE = (
    "src/.tf2npu", "src/.tf2npu/lock", "src/.tf2npu/undo/0001/journal", "src/.tf2npu/undo/0001/originals", "out/.tf2npu",
    "out/.tf2npu/journal", "out/.tf2npu/scratch", "out/.tf2npu/manifest.json", "rep/.tf2npu-report", "tf2npu-report",
    "out/.tf2npu-draft-0123456789abcdef", "rep/.tf2npu-draft-0123456789abcdef", "rep/report.json.tf2npu-draft",
    "src/.tf2npu-draft-0123456789abcdef", "out/train.py.tf2npu-new", "src/train.py.tf2npu-backup", "src/.gitignore",
    "src/pyproject.toml", "src/.git", "src/setup.cfg", "known.json",
)  # fmt: skip


@dataclass
class Tally:
    """Counts over all plantings."""

    planted: Counter[str] = field(default_factory=Counter)
    codes: Counter[int] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


def make_box(box: Path) -> None:
    """A project, an earlier version of it, things of somebody else's, and a home."""
    for name, extra in (("old", "# earlier\n"), ("src", "")):
        (box / name / "pkg" / "deep").mkdir(parents=True)
        (box / name / "train.py").write_text(extra + SESSION)
        (box / name / "pkg" / "model.py").write_text(extra + SESSION)
        (box / name / "pkg" / "deep" / "script").write_text(f"#!/usr/bin/env python3\n{extra}{SESSION}")
        (box / name / "data.bin").write_bytes(b"\1" * 5000)
        (box / name / "pkg" / ".gitignore").write_text("*.log\n")
    (box / "old" / "gone.py").write_text(SESSION)
    (box / "job.py").write_text("print('done')\n")
    (box / "victim" / "folder" / "inner").mkdir(parents=True)
    for name in ("file", "folder/file", "folder/inner/file"):
        (box / "victim" / name).write_text("precious\n")
    (box / "victim" / "same.bin").write_bytes(b"\1" * 5000)  # what the conversion would write itself
    (box / "victim" / "same.bin").chmod(0o600)
    (box / "home").mkdir()


def snapshot(box: Path, without: tuple[str, ...]) -> Snapshot:
    """All that stands in the box but below some folders: kind, mode, owner, time and content."""
    found: Snapshot = {}
    for folder, folders, files in os.walk(box):
        inside = os.path.relpath(folder, box)
        folders[:] = [name for name in folders if os.path.normpath(os.path.join(inside, name)) not in without]
        for name in folders + files:
            path = os.path.normpath(os.path.join(inside, name))
            if path not in without:
                found[path] = _described(box / path)
    return found


def _described(path: Path) -> tuple[object, ...]:
    info = path.lstat()
    if stat.S_ISREG(info.st_mode):
        return info.st_mode, info.st_uid, info.st_gid, info.st_mtime_ns, info.st_size, _beginning(path)
    if stat.S_ISLNK(info.st_mode):
        return info.st_uid, info.st_gid, os.readlink(path)
    return info.st_mode, info.st_uid, info.st_gid, () if stat.S_ISDIR(info.st_mode) else info.st_mtime_ns


def _beginning(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(1 << 16)  # all of it, but for the sparse ones


def call(words: tuple[str, ...], box: Path, seen: Path | None = None) -> tuple[int, str]:
    """Run the command in the box, in a process of its own: exit code and what it said; -14 when it hung.

    seen: a file that gets the paths which it looked at.
    """
    said = box.parent / "said.txt"
    pid = os.fork()
    if not pid:
        _run(words, box, said, seen)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return code, said.read_text(errors="replace")


def _run(words: tuple[str, ...], box: Path, said: Path, seen: Path | None) -> None:
    code = 70
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(PATIENCE_SECONDS)
        os.chdir(box)
        home = box / "home"
        os.environ.update(HOME=str(home), XDG_STATE_HOME=str(home / "state"), XDG_CACHE_HOME=str(home / "cache"))
        output = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(output, 1)
        os.dup2(output, 2)
        if seen is not None:
            _record(seen, box)
        cli.main(list(words))
    except SystemExit as stopped:
        code = stopped.code if isinstance(stopped.code, int) else int(bool(stopped.code))
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _record(file: Path, box: Path) -> None:
    """Note each path below the box that is asked for."""
    real: Callable[[Directory, str], tuple[int, str]] = Directory._parent

    def parent(folder: Directory, path: str) -> tuple[int, str]:
        place = os.path.abspath(folder.path / path)
        if place.startswith(f"{box}/") and "/home/" not in place:
            with file.open("a") as stream:
                stream.write(os.path.relpath(place, box) + "\n")
        return real(folder, path)

    Directory._parent = parent


def opened_paths(command: Command, folder: Path) -> list[str]:
    """Paths that the command asks for in an undisturbed run, and the folders above them."""
    box, seen = folder / "box", folder / "seen.txt"
    prepare(command, box)
    seen.write_text("")
    code, said = call(command.words, box, seen)
    if code not in (0, 1):
        raise SystemExit(f"{command.name}: exit code {code} where nobody disturbed it:\n{said}")
    found = {line for line in seen.read_text().splitlines() if ".tf2npu-draft-" not in line}
    for path in list(found):
        found.update(str(parent) for parent in Path(path).parents if str(parent) != ".")
    return sorted(found)


def prepare(command: Command, box: Path) -> None:
    """The box as it is before the command; made once, copied then. It always has the same place, as records go by that."""
    made = box.parent / f"made for {command.name}"
    if not made.exists():
        _make(command, box)
        shutil.copytree(box, made, symlinks=True)
    shutil.rmtree(box, ignore_errors=True)
    shutil.copytree(made, box, symlinks=True)


def _make(command: Command, box: Path) -> None:
    shutil.rmtree(box, ignore_errors=True)
    box.mkdir()
    make_box(box)
    for words in command.before:
        code, said = call(words, box)
        if code not in (0, 1):
            raise SystemExit(f"{' '.join(words)}: exit code {code}:\n{said}")


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        here = os.getcwd()
        os.chdir(path.parent)  # the address of a socket is short
        try:
            made.bind(path.name)
        finally:
            os.chdir(here)


def _folder_of_links(path: Path, box: Path) -> None:
    path.mkdir()
    for name in ("journal", "originals", "index.html", "report.json", "0001", "files", "train.py", "lock"):
        (path / name).symlink_to(box / "victim" / ("folder" if name in ("originals", "0001", "files") else "file"))


KINDS: dict[str, Callable[[Path, Path], object]] = {
    "link to a file": lambda path, box: path.symlink_to(box / "victim" / "file"),
    "link to the same content": lambda path, box: path.symlink_to(box / "victim" / "same.bin"),
    "link to a folder": lambda path, box: path.symlink_to(box / "victim" / "folder"),
    "dangling link": lambda path, box: path.symlink_to(box / "victim" / "new"),
    "link to itself": lambda path, box: path.symlink_to(path.name),
    "named pipe": lambda path, box: os.mkfifo(path),
    "socket": lambda path, box: _socket(path),
    "device": lambda path, box: os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 3)),
    "hard link": lambda path, box: os.link(box / "victim" / "file", path),
    "hard link to the same content": lambda path, box: os.link(box / "victim" / "same.bin", path),
    "folder": lambda path, box: path.mkdir(),
    "folder of links": _folder_of_links,
    "file": lambda path, box: path.write_text("somebody else's\n"),
    "empty file": lambda path, box: path.write_text(""),
    "hostile record": lambda path, box: path.write_text('{"files": {"../victim/file": "sha256:00"}, "path": "../victim/file"}\n'),
    "sparse file": lambda path, box: (path.touch(), os.truncate(path, 8 << 40)),
}
ON_WHAT_STANDS: dict[str, Callable[[Path], object]] = {
    "another owner": lambda path: os.lchown(path, NOBODY, NOBODY),
    "no permission": lambda path: path.chmod(0),
    "mode 4777": lambda path: path.chmod(0o4777),
    "read-only": lambda path: path.chmod(0o555),
}


def plant(kind: str, path: Path, box: Path) -> bool:
    """Put something at a path, in the place of what stands there; False where that cannot be done here."""
    try:
        if kind in ON_WHAT_STANDS:
            if path.is_symlink() or not path.exists():
                return False
            ON_WHAT_STANDS[kind](path)
            return True
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif os.path.lexists(path):
            path.unlink()
        KINDS[kind](path, box)
    except (OSError, shutil.Error):  # a folder is a file by now, or only root may
        return False
    return True


def check(command: Command, kind: str, place: str, box: Path, tally: Tally) -> None:
    """Run the command over what was planted."""
    before = snapshot(box, (*command.writes, "home"))
    code, said = call(command.words, box)
    after = snapshot(box, (*command.writes, "home"))
    what = f"{command.name}, {kind} at {place}"
    changed = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    if changed:
        tally.faults.append(f"{what}: changed {', '.join(changed)}")
    if code not in (0, 1, 2, 3) or "Traceback" in said or "internal error" in said:
        tally.faults.append(f"{what}: exit code {code}: {said.strip()[-300:]}")
    if code == 2 and len([line for line in said.splitlines() if line.startswith(("tf2npu: ", "Error", "tf2npu run: "))]) != 1:
        tally.faults.append(f"{what}: no one line: {said.strip()[-300:]}")
    tally.planted[kind] += 1
    tally.codes[code] += 1


def run(plantings: int, seed: int, folder: Path, commands: tuple[Command, ...]) -> Tally:
    """Plant until so many were tried: each command and each path by turns, what is planted by chance."""
    chance, tally, box = random.Random(seed), Tally(), folder / "box"
    places = {command.name: sorted({*opened_paths(command, folder), *NAMES_OF_STATE}) for command in commands}
    number = 0
    while sum(tally.planted.values()) < plantings:
        command = commands[number % len(commands)]
        prepare(command, box)
        for _ in range(chance.choice((1, 1, 1, 2))):
            place = chance.choice(places[command.name])
            kind = chance.choice((*KINDS, *ON_WHAT_STANDS))
            if plant(kind, box / place, box):
                check(command, kind, place, box, tally)
        number += 1
    return tally


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--plantings", type=int, default=2000)
    options.add_argument("--runs", type=int, default=0, help="and so many around `tf2npu run`, which start TensorFlow")
    options.add_argument("--seed", type=int, default=1)
    asked = options.parse_args()
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        load_converter(folder)
        tallies = [run(asked.plantings, asked.seed, folder, COMMANDS)]
        if asked.runs:
            tallies.append(run(asked.runs, asked.seed, folder, (RUN, RANKS)))
    codes = sum((tally.codes for tally in tallies), Counter())
    faults = [fault for tally in tallies for fault in tally.faults]
    seen = ", ".join(f"{count} ended with {code}" for code, count in sorted(codes.items()))
    print(f"{sum(codes.values())} plantings in {time.perf_counter() - began:.0f} s: {seen}")
    for tally in tallies:
        print("  " + ", ".join(f"{count} {kind}" for kind, count in sorted(tally.planted.items())))
    end(faults)


if __name__ == "__main__":
    main()
