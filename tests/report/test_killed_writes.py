"""SIGKILL while several processes write a report: the folder holds the old one or the new one, and the next write mends it."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from npu_formats.files.directory import Directory
from npu_formats.files.draft import is_name
from npu_formats.files.lock import exclusive
from tf2npu.engine.convert_file import convert_source
from tf2npu.report import writer
from tf2npu.report.model.build import build
from tf2npu.report.model.report import Report

N_FILES = 90  # enough for two processes
N_KILLS = 10
FORMATS = ["html", "json", "sarif", "csv"]
Files = dict[str, bytes]


def report_of(version: str) -> Report:
    """Reports of two versions share no page of a file but their names; each has one that the other has not."""
    code = f"import tensorflow as tf\n# {version}\ns = tf.Session()\n"
    names = [*(f"part/file{number}.py" for number in range(N_FILES)), f"{version}.py"]
    return build([convert_source(code, name) for name in names])


OLD, NEW = report_of("old"), report_of("new")


@pytest.fixture(autouse=True)
def own_state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def whole(tmp_path) -> tuple[Files, Files]:
    """The files of the old and of the new report, as a write that nothing disturbs makes them."""
    for report, name in ((OLD, "old"), (NEW, "new")):
        writer.write(report, tmp_path / name, FORMATS)
    return files_of(tmp_path / "old"), files_of(tmp_path / "new")


def files_of(place: Path) -> Files:
    """Files that a person would open: all but drafts, which have a name of their own."""
    return {str(p.relative_to(place)): p.read_bytes() for p in place.rglob("*") if p.is_file() and not is_name(p.name)}


def drafts_in(place: Path) -> list[Path]:
    return [path for path in place.rglob("*") if is_name(path.name)]


def started(target: Path, prepare: Callable[[], None] = lambda: None) -> int:
    """A process, with a group of its own, that writes the new report by two processes."""
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            prepare()
            writer.write(NEW, target, FORMATS, jobs=2)
            os._exit(0)
        finally:
            os._exit(1)
    return child


def ended(child: int, target: Path) -> int:
    """Wait for a process, and for its workers, which have its lock; how it ended."""
    _, status = os.waitpid(child, 0)
    with Directory.given(target) as place, exclusive(place, patience_seconds=60):
        return os.waitstatus_to_exitcode(status)


@pytest.mark.whole
def test_a_kill_at_any_moment_leaves_the_old_report_or_the_new_one(tmp_path, whole):
    old, new = whole
    target, rnd, mixed, states = tmp_path / "out", random.Random(38), 0, set()
    writer.write(OLD, target, FORMATS)
    start = time.monotonic()
    assert ended(started(target), target) == 0
    seconds = time.monotonic() - start
    assert files_of(target) == new
    for number in range(N_KILLS):
        writer.write(OLD, target, FORMATS)
        assert files_of(target) == old and not drafts_in(target)
        child = started(target)
        time.sleep(rnd.uniform(0, 1.1) * seconds)
        (os.kill if number % 2 else os.killpg)(child, signal.SIGKILL)
        ended(child, target)
        found = files_of(target)
        assert all(data in (old.get(name), new.get(name)) for name, data in found.items()), "a file is torn"
        states.add("old" if found == old else "new" if found == new else "mixed")
        mixed += found not in (old, new)
    assert mixed <= 1, "killed between moves, which take a hundredth of the time"
    assert "old" in states
    writer.write(NEW, target, FORMATS)
    assert files_of(target) == new and not drafts_in(target)


@pytest.mark.whole(beyond=1)
@pytest.mark.parametrize("n_moves", [0, 1, 40, 90])
def test_a_kill_between_two_moves_is_mended_by_the_next_write(tmp_path, whole, n_moves):
    old, new = whole
    target = tmp_path / "out"
    writer.write(OLD, target, FORMATS)
    real, moved = Directory.rename, []

    def deadly(place: Directory, before: str, after: str) -> None:
        if place.path == target:
            if len(moved) == n_moves:
                os.kill(os.getpid(), signal.SIGKILL)
            moved.append(after)
        real(place, before, after)

    def prepare() -> None:
        Directory.rename = deadly

    assert ended(started(target, prepare), target) == -signal.SIGKILL
    found = files_of(target)
    assert sum(found[name] != data for name, data in old.items()) <= n_moves
    assert all(data in (old.get(name), new.get(name)) for name, data in found.items())
    assert drafts_in(target)
    writer.write(OLD if n_moves == 1 else NEW, target, FORMATS)
    assert files_of(target) == (old if n_moves == 1 else new) and not drafts_in(target)


def test_a_write_that_fails_leaves_the_old_report(tmp_path, whole, monkeypatch):
    target = tmp_path / "out"
    writer.write(OLD, target, FORMATS)

    def without_room(report):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writer, "_ONE_TEXT", {**writer._ONE_TEXT, "csv": ("findings.csv", without_room)})
    for jobs in (1, 2):
        with pytest.raises(OSError, match="No space left"):
            writer.write(NEW, target, FORMATS, jobs=jobs)
        assert files_of(target) == whole[0] and not drafts_in(target)
    monkeypatch.undo()
