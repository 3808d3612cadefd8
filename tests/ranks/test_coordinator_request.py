"""The coordinator's process: what its launcher learns of it, and that it never outlives its launcher."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from npu_formats.environment import TF2NPU_COLLECTIVES
from npu_formats.ranks.connection import connect
from npu_formats.ranks.coordinator_request import LaunchedCoordinator
from npu_formats.ranks.shared_folder import shared_folder

LAUNCHER = """
import time
from pathlib import Path
from npu_formats.ranks.coordinator_request import LaunchedCoordinator
coordinator = LaunchedCoordinator(Path({folder!r}))
print(coordinator._process.pid, flush=True)
time.sleep(60)
"""


def test_ranks_reach_it_and_the_launcher_learns_that_nobody_has_called_anything():
    with shared_folder() as folder:
        coordinator = LaunchedCoordinator(folder)
        try:
            key, _, place = coordinator.environment[TF2NPU_COLLECTIVES].partition("|")
            line = connect(Path(place), bytes.fromhex(key))
            line.send(["waiting"])
            assert line.receive()[0][0] == ""
            line.close()
            coordinator.leave(0, "has ended with exit code 0")
            assert not coordinator.was_called()
        finally:
            coordinator.close()
        assert coordinator._process.returncode is not None


def test_it_is_gone_when_its_launcher_is_killed():
    with shared_folder() as folder:
        code = LAUNCHER.format(folder=str(folder))
        with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as launcher:
            number = int(launcher.stdout.readline())
            os.kill(launcher.pid, signal.SIGKILL)
        deadline = time.monotonic() + 30
        while _is_running(number) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not _is_running(number)


def test_a_place_where_it_cannot_listen_is_an_error_with_the_reason(tmp_path):
    with pytest.raises(OSError, match="No such file or directory"):
        LaunchedCoordinator(tmp_path / "absent")


def _is_running(number: int) -> bool:
    """Whether a process is there that is no zombie, as one is whose parent has not asked for it."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
