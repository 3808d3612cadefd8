"""Dumps that cannot be written, and processes that are killed: training goes on, and no half file has a final name."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import tensorflow.compat.v1 as tf

from npu_formats.vendor.dump_file import read_header
from npu_runtime.observers.dump.session_dump import SessionDump, _Size
from npu_runtime.observers.dump.writer import WRITER
from tests.dump.networks import batch, lenet, train
from tests.fork_server import python
from tests.runtime.device import device_session

ROOT = Path(__file__).parents[2]
_FULL = """
import resource, sys
from tests.dump.networks import train
plain = train(3)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
assert train(3, enable_dump=True, dump_path=sys.argv[1], dump_mode="all") == plain
"""
_CLOSED = """
import os, sys
from tests.dump.networks import train
plain = train(3)
if os.geteuid() == 0:
    os.seteuid(65534)
assert train(3, enable_dump=True, dump_path=sys.argv[1]) == plain
"""


def _run(program: str, folder: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = python(["-c", program, folder], environment)
    assert done.returncode == 0, done.stderr
    return done.stderr


def _told(said: str) -> list[str]:
    return [line for line in said.splitlines() if line.startswith("npu_runtime: Data dump:") and "a step of" not in line]


def _are_whole(folder: Path) -> int:
    """Number of files with final names, all of which must be whole."""
    files = [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".")]
    for path in files:
        header = read_header(path)
        last = max((*header.inputs, *header.outputs), key=lambda tensor: tensor.offset_bytes + tensor.size_bytes, default=None)
        assert last is None or last.offset_bytes + last.size_bytes == path.stat().st_size
    return len(files)


def test_files_that_do_not_fit_are_left_out_with_one_line(tmp_path):
    assert _told(_run(_FULL, tmp_path)) == [
        f"npu_runtime: Data dump: {tmp_path}: File too large; the rest of a step is left out, and later steps are tried again"
    ]
    _are_whole(tmp_path)
    assert not list(tmp_path.rglob(".*"))


def test_a_folder_that_may_not_be_written_is_told_in_one_line(tmp_path):
    folder = tmp_path / "closed"
    folder.mkdir()
    folder.chmod(0o500)
    for above in (tmp_path, *tmp_path.parents[:3]):
        above.chmod(0o755)
    assert _told(_run(_CLOSED, folder)) == [
        f"npu_runtime: Data dump: {folder}: Permission denied; the rest of a step is left out, and later steps are tried again"
    ]
    assert list(folder.iterdir()) == []


def test_a_folder_that_goes_away_is_told_and_training_goes_on(tmp_path, capsys):
    folder = tmp_path / "gone"
    folder.mkdir()
    with tf.Graph().as_default():
        fetched = lenet()
        with device_session(enable_dump=True, dump_path=folder) as session:
            session.run(tf.global_variables_initializer())
            WRITER.flush()
            shutil.rmtree(folder)
            for number in range(3):
                session.run(fetched, batch(number))
    (line,) = _told(capsys.readouterr().err)
    assert line.startswith(f"npu_runtime: Data dump: {folder}: No such file or directory; ")
    assert not folder.exists()


def test_a_step_that_the_disk_has_no_room_for_is_left_out(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(SessionDump, "_size", lambda *_: _Size(3, 1 << 60, False))
    train(3, enable_dump=True, dump_path=tmp_path)
    lines = _told(capsys.readouterr().err)
    assert len(lines) == 3  # a graph for the initialisation, the training and the values of variables
    assert all("step 0 of ge_default_" in line and "is left out" in line for line in lines)
    assert all("as long as it needs 1073741824.0 GB and the disk of" in line for line in lines)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_links_are_not_followed_out_of_the_folder(tmp_path, capsys):
    folder, other = tmp_path / "dumps", tmp_path / "elsewhere"
    folder.mkdir()
    other.mkdir()
    with tf.Graph().as_default():
        fetched = lenet()
        with device_session(enable_dump=True, dump_path=folder) as session:
            session.run(tf.global_variables_initializer())
            WRITER.flush()
            (device,) = folder.glob("*/0")
            shutil.rmtree(device)
            device.symlink_to(other)
            session.run(fetched, batch(0))
    assert list(other.iterdir()) == []
    assert len(_told(capsys.readouterr().err)) == 1


def test_what_a_killed_process_leaves_under_final_names_is_whole():
    """`make faults` kills 200, and has the vendor's parser read the files, too."""
    command = [sys.executable, "-m", "benchmarks.kill_dump", "--kills", "6", "--ours-alone"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "faults: 0" in done.stdout, done.stdout + done.stderr
