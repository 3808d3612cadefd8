"""A conversion that is killed leaves no process behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SOURCE = "import tensorflow as tf\n" + "x = tf.layers.dense(x, 8)\n" * 400


def children_of(process: int) -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def runs(process: int) -> bool:
    """Whether a process is there and no mere entry of one that has ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until(holds, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.05)
    return bool(holds())


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_the_process_that_started_them(tmp_path: Path, how: signal.Signals) -> None:
    source = tmp_path / "src"
    source.mkdir()
    for number in range(200):
        (source / f"f{number}.py").write_text(SOURCE)
    command = [sys.executable, "-m", "tf2npu", "convert", str(source), str(tmp_path / "out"), "--no-cache", "--jobs", "2"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as main:
        assert wait_until(lambda: len(children_of(main.pid)) == 2, 240)
        workers = children_of(main.pid)
        os.kill(main.pid, how)
    assert wait_until(lambda: not any(runs(worker) for worker in workers), 240)
