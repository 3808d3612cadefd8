"""A rank's place at its coordinator: the connection whose end tells the others that the rank is gone."""

from __future__ import annotations

import os
from typing import Any

from npu_formats.files.directory import Directory
from npu_formats.files.draft import replacing
from npu_formats.ranks.rank_environment import RankEnvironment

PATIENCE_SECONDS = 60.0
"""Seconds to wait for a job's folder: a rank holds it while a coordinator starts, which takes one second on an idle machine."""
_ADDRESS = "address"
_MOST_ADDRESS_BYTES = 8192
"""Largest size of an address: a key of 64 digits and a path, of which Linux takes 4,096 bytes."""
_attendance: list[Any] = []


class CannotMeet(Exception):
    """The error that this process cannot take part in its job: the reason, and the way out."""


def known_address(folder: Directory) -> str:
    """The address of the coordinator that was there last, empty for none."""
    try:
        return folder.read(_ADDRESS, _MOST_ADDRESS_BYTES).decode("ascii", "replace")
    except OSError:
        return ""


def note_address(folder: Directory, address: str) -> None:
    """Note the address for the ranks that come later.  Raises: OSError."""
    with replacing(folder, _ADDRESS, mode=0o600) as stream:
        stream.write(address.encode())


def attend(line: Any, given: RankEnvironment) -> str:
    """Take a rank's place; the name of the run, empty where the coordinator's job is over.

    line: a connection, kept until the process ends.  Raises: CannotMeet, OSError.
    """
    line.send(["present", given.rank, os.getpid()])
    try:
        header, _ = line.receive()
    except (EOFError, OSError, ValueError):  # it is gone, or somebody between has changed what it said
        line.close()
        return ""
    match header:
        case ["here", str(run)]:
            _keep(line)
            return run
        case ["taken", int(process)]:
            raise CannotMeet(
                f"rank {given.rank} of this job runs already, as process {process}: give each rank its own RANK_ID, "
                "and two jobs at a time JOB_IDs of their own"
            )
    line.close()
    return ""


def _keep(line: Any) -> None:
    """Hold the line open as long as this process lives; processes that it forks have no part in it."""
    _attendance.append(line)
    os.register_at_fork(after_in_child=line.close)
