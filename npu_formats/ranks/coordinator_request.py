"""The coordinator of a job's ranks: a process of its own, which the launcher starts, or the rank that comes first."""

from __future__ import annotations

import json
import os
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

from npu_formats.environment import TF2NPU_COLLECTIVES
from npu_formats.runtime_process import runtime_command

PROBLEM = "cannot listen: "
"""Answer of the process instead of an address, followed by the reason."""
CALLED = "called"
"""Last line of a launched coordinator if a rank has called a collective operation."""


def start(size: int, seconds: float, key: bytes = b"", network: tuple[str, int] | None = None) -> str:
    """Start it for so many ranks, which have so many seconds to come; the address that they reach it by.

    key, network: as Coordinator has them; the address is "host:port" then.  Raises: OSError.
    """
    request = {"size": size, "seconds": seconds, "key": key.hex(), "network": network}
    with _process("serve", stderr=subprocess.DEVNULL) as process:
        _ask(process, request)
        process.stdin.close()
        address = _address(process)
        process.returncode = 0  # it goes on; nobody here waits for its end
    return address


class LaunchedCoordinator:
    """The coordinator of the ranks that this process launches. It ends with this process, however that ends.

    folder: as Coordinator has it.  Raises: OSError where it cannot be started.
    """

    def __init__(self, folder: Path) -> None:
        self._process = _process("serve_launcher")
        try:
            _ask(self._process, {"folder": str(folder)})
            self._address = _address(self._process)
        except OSError:
            self.close()
            raise

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables by which ranks find the coordinator."""
        return {TF2NPU_COLLECTIVES: self._address}

    def leave(self, rank: int, why: str) -> None:
        """A rank takes no part any more: nobody waits for it.  why: as in "rank 1, which ended with exit code 0"."""
        with suppress(OSError):
            _ask(self._process, [rank, why])

    def was_called(self) -> bool:
        """Whether any rank has called anything. It coordinates no longer then."""
        with suppress(OSError):
            self._process.stdin.close()
        return _said(self._process) == CALLED

    def close(self) -> None:
        """End it, whatever it does."""
        self._process.kill()
        with self._process:
            pass  # closes the lines, and waits


def _process(function: str, stderr: int | None = None) -> Any:
    """The coordinator's process. It belongs to no terminal, so that Ctrl-C ends the ranks and it can tell the others."""
    return subprocess.Popen(
        runtime_command("npu_runtime.collectives.coordinator_process", function), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=stderr, start_new_session=True, cwd="/",
    )  # fmt: skip


def _ask(process: Any, request: Any) -> None:
    """Say a line to it: no other user sees it there, as they see a command line."""
    os.write(process.stdin.fileno(), json.dumps(request).encode() + b"\n")


def _said(process: Any) -> str:
    line: bytes = process.stdout.readline()
    return line.decode().strip()


def _address(process: Any) -> str:
    """Raises: OSError where it has none."""
    address = _said(process)
    if not address:
        raise OSError("the coordinator of the ranks could not be started")
    problem = address.removeprefix(PROBLEM)
    if problem != address:
        raise OSError(problem)
    return address
