"""The coordinator of ranks that nobody launched together: a process of its own, started by the rank that comes first."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys

from tf2npu.ranks.shared_folder import shared_folder

_COMMAND = """
import sys
sys.path[0] = sys.prefix
from tf2npu.ranks.coordinator_process import serve
serve(int(sys.argv[1]), float(sys.argv[2]))
"""
"""What `python -c` runs: nothing in the current folder takes the place of a library."""


def start(size: int, seconds: float) -> str:
    """Start it for so many ranks, which have so many seconds to come; the address that they reach it by.

    It belongs to no terminal, so that Ctrl-C ends the ranks and it can tell the others.  Raises: OSError.
    """
    command = [sys.executable, "-c", _COMMAND, str(size), str(seconds)]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True, cwd="/"
    ) as process:
        assert process.stdout is not None
        address = process.stdout.readline().decode().strip()
        process.returncode = 0  # it goes on; nobody here waits for its end
    if not address:
        raise OSError("the coordinator of the ranks could not be started")
    return address


def serve(size: int, seconds: float) -> None:
    """Coordinate until all ranks that have come are gone."""
    coordinators = importlib.import_module("npu_runtime.collectives.coordinator")
    with shared_folder() as folder:
        coordinator = coordinators.Coordinator(folder)
        print(coordinator.address, flush=True)
        os.dup2(sys.stdin.fileno(), sys.stdout.fileno())  # the null device, so that the rank's pipe comes to its end
        try:
            coordinator.wait_for_the_end(size, seconds)
        finally:
            coordinator.close()
