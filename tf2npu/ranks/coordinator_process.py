"""The coordinator of ranks that nobody launched together: a process of its own, started by the rank that comes first."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys

from tf2npu.ranks.shared_folder import shared_folder

_COMMAND = """
import sys
sys.path[0] = sys.prefix
from tf2npu.ranks.coordinator_process import serve
serve()
"""
"""What `python -c` runs: nothing in the current folder takes the place of a library."""


def start(size: int, seconds: float, key: bytes = b"", network: tuple[str, int] | None = None) -> str:
    """Start it for so many ranks, which have so many seconds to come; the address that they reach it by.

    key, network: as Coordinator has them; the address is "host:port" then.  It belongs to no terminal, so that Ctrl-C ends the
    ranks and it can tell the others.  Raises: OSError.
    """
    request = json.dumps({"size": size, "seconds": seconds, "key": key.hex(), "network": network})
    with subprocess.Popen(
        [sys.executable, "-c", _COMMAND], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        start_new_session=True, cwd="/",
    ) as process:  # fmt: skip
        assert process.stdout is not None and process.stdin is not None
        process.stdin.write(request.encode() + b"\n")  # no other user sees it there, as they see a command line
        process.stdin.close()
        address = process.stdout.readline().decode().strip()
        process.returncode = 0  # it goes on; nobody here waits for its end
    if not address:
        raise OSError("the coordinator of the ranks could not be started")
    problem = address.removeprefix(_PROBLEM)
    if problem != address:
        raise OSError(problem)
    return address


def serve() -> None:
    """Coordinate until all ranks that have come are gone."""
    coordinators = importlib.import_module("npu_runtime.collectives.coordinator")
    request = json.loads(sys.stdin.readline())
    network = tuple(request["network"]) if request["network"] else None
    with shared_folder() as folder:
        try:
            coordinator = coordinators.Coordinator(folder, bytes.fromhex(request["key"]), network)
        except OSError as error:
            print(f"{_PROBLEM}{error.strerror or error}", flush=True)
            return
        print(coordinator.place or coordinator.address, flush=True)
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # the null device, so that the rank's pipe comes to its end
        try:
            coordinator.wait_for_the_end(request["size"], request["seconds"])
        finally:
            coordinator.close()


_PROBLEM = "cannot listen: "
