"""The coordinator of ranks that nobody launched together: a process of its own, started by the rank that comes first."""

from __future__ import annotations

import json
import subprocess
import sys

PROBLEM = "cannot listen: "
"""What the process says instead of an address, before the reason."""
_COMMAND = """
import sys
sys.path[0] = sys.prefix
from npu_runtime.collectives.coordinator_process import serve
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
    problem = address.removeprefix(PROBLEM)
    if problem != address:
        raise OSError(problem)
    return address
