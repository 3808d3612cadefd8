"""A profile's folder appears whole or not at all, below the folder that the user gave, and within its limit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from npu_runtime.observers.profiler.collection import ProfileNotWritten, write_profile
from npu_runtime.observers.profiler.draft_folder import DraftFolder
from npu_runtime.observers.profiler.settings import ProfilingOptions
from npu_runtime.simulation.run_record import DeviceRun
from tests.profiler import runs
from tests.profiler.reader import Profile, check_summary, check_tables, check_timeline

BEGAN_NS = 1_700_000_000_123_456_789
STEPS = ProfilingOptions(training_trace=True)


def write(output: Path, run: DeviceRun | None = None, options: ProfilingOptions = STEPS, **rest):
    return write_profile(run or runs.lenet_run(2), options, output, BEGAN_NS, **rest)


@pytest.mark.parametrize("after_files", [0, 5, 12, 18])
def test_a_killed_process_leaves_no_folder_that_looks_whole(after_files: int, tmp_path: Path):
    """The process stops itself before a file of the draft, and is killed there."""
    code = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from npu_runtime.observers.profiler import draft_folder\n"
        "put, n = draft_folder.DraftFolder.put, [0]\n"
        "def wait(self, *rest):\n"
        "    n[0] += 1\n"
        f"    if n[0] > {after_files}:\n"
        "        print('here', flush=True); time.sleep(600)\n"
        "    put(self, *rest)\n"
        "draft_folder.DraftFolder.put = wait\n"
        "from tests.profiler.test_whole_folders import write\n"
        "write(Path(sys.argv[1]))\n"
    )
    root = Path(__file__).parents[2]
    process = subprocess.Popen([sys.executable, "-c", code, tmp_path], stdout=subprocess.PIPE, cwd=root)
    assert process.stdout is not None and process.stdout.readline() == b"here\n"
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert [path.name for path in tmp_path.glob("PROF*")] == []
    assert all(path.name.startswith(".draft-") for path in tmp_path.iterdir())
    write(tmp_path)
    assert len(list(tmp_path.glob("PROF*"))) == 1


def test_a_failure_leaves_nothing(tmp_path: Path, monkeypatch):
    put, n = DraftFolder.put, 0

    def full(self, *rest):
        nonlocal n
        n += 1
        if n > 10:
            raise OSError(28, "No space left on device")
        put(self, *rest)

    monkeypatch.setattr(DraftFolder, "put", full)
    with pytest.raises(ProfileNotWritten, match=r"No space left on device.*see that the disk has room"):
        write(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_two_profiles_of_a_moment_have_two_names(tmp_path: Path):
    first, second = write(tmp_path).folder, write(tmp_path).folder
    assert first.name[:11] == "PROF_000001" and second.name[:11] == "PROF_000002"


def test_an_output_that_is_missing_is_made_only_when_asked_for(tmp_path: Path):
    with pytest.raises(ProfileNotWritten, match=r"missing.*No such file.*make the folder first"):
        write(tmp_path / "missing")
    assert write(tmp_path / "made" / "below", make=True).folder.is_dir()


def test_an_output_that_is_a_file_is_said(tmp_path: Path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ProfileNotWritten, match=r"Not a directory.*name a folder"):
        write(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"


def test_a_link_with_the_folder_s_name_is_not_followed(tmp_path: Path):
    name = write(tmp_path).folder.name
    other, elsewhere = tmp_path / "other", tmp_path / "elsewhere"
    other.mkdir()
    elsewhere.mkdir()
    (other / name).symlink_to(elsewhere)
    assert write(other).folder.name == name.replace("000001", "000002")
    assert list(elsewhere.iterdir()) == [] and (other / name).is_symlink()


def test_a_folder_s_limit_keeps_the_latest_steps(tmp_path: Path):
    run = runs.lenet_run(200)
    written = write(tmp_path, run, replace(STEPS, storage_limit_mb=1))
    profile = Profile(written.folder)
    n_bytes = sum(path.stat().st_size for path in profile.folder.rglob("*") if path.is_file())
    assert 1024 * 1024 // 2 < n_bytes <= 1024 * 1024
    (warning,) = written.warnings
    assert "storage_limit of 1 MB" in warning and "of 2400 tasks" in warning
    check_tables(profile)
    check_summary(profile, "PipeUtilization")
    check_timeline(profile.events())
    assert profile.table("step_trace")[-1]["Iteration ID"] == "200"


def test_a_limit_that_nothing_fits_in_is_said_and_passed_over(tmp_path: Path):
    written = write(tmp_path, runs.lenet_run(1), replace(STEPS, storage_limit_mb=0))
    assert "not honoured" in written.warnings[0]
    check_tables(Profile(written.folder))
