"""How ranks that a shell loop or a job's scheduler starts, one process at a time, find each other on one machine.

Each job has a folder of this user's with the address of its coordinator, under a lock; who finds none there starts one.
"""

from __future__ import annotations

import importlib
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tf2npu.files.directory import Directory
from tf2npu.files.draft import replacing
from tf2npu.files.lock import Busy, exclusive
from tf2npu.ranks.coordinator_process import start
from tf2npu.ranks.rank_environment import RankEnvironment

_ADDRESS = "address"
_MOST_ADDRESS_BYTES = 8192
"""Of an address: a key of 64 digits and a path, of which Linux takes 4,096 bytes."""
_OWN_MODE = 0o700
_PATIENCE_SECONDS = 60.0
"""Seconds to wait for the folder: a rank holds it while a coordinator starts, which takes one second on an idle machine."""
_attendance: list[Any] = []
"""The connection whose end tells the others that this rank is gone."""


class CannotMeet(Exception):
    """Why this process cannot take part in its job, and the way out."""


def join(given: RankEnvironment) -> str:
    """Take part in a job until this process ends; the address of its coordinator.  Raises: CannotMeet."""
    try:
        with _job_folder(given.job) as folder, exclusive(folder, patience_seconds=_PATIENCE_SECONDS):
            address = _known(folder)
            if address and _attend(address, given):
                return address
            address = start(given.size, given.seconds)
            with replacing(folder, _ADDRESS, mode=0o600) as stream:
                stream.write(address.encode())
            if _attend(address, given):
                return address
    except (OSError, EOFError) as error:
        raise CannotMeet(f"rank {given.rank} of {given.size} cannot meet the others: {error}") from None
    except Busy:
        raise CannotMeet(
            f"rank {given.rank} of {given.size} cannot meet the others: another process of this job does not get on"
        ) from None
    raise CannotMeet(f"rank {given.rank} of {given.size} was not let into its job: start all ranks again")


@contextmanager
def _job_folder(job: str) -> Iterator[Directory]:
    """The folder of a job, below one that no other user can enter.  Raises: OSError, CannotMeet."""
    with Directory.followed(Path(tempfile.gettempdir())) as temporary:
        name = f"tf2npu-jobs-{os.geteuid()}"
        with suppress(FileExistsError):
            temporary.new_folder(name, _OWN_MODE)
        with temporary.inside(name) as own:
            found = os.fstat(own.fileno())
            if found.st_uid != os.geteuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                raise CannotMeet(f"{own.path} is not this user's alone: remove it, or set TMPDIR to a folder of yours")
            with own.inside(job, make=True, mode=_OWN_MODE) as folder:
                yield folder


def _known(folder: Directory) -> str:
    try:
        return folder.read(_ADDRESS, _MOST_ADDRESS_BYTES).decode("ascii", "replace")
    except OSError:
        return ""


def _attend(address: str, given: RankEnvironment) -> bool:
    """Come to a coordinator; False where it is gone, or its job is over.  Raises: CannotMeet, OSError."""
    connections = importlib.import_module("npu_runtime.collectives.connection")
    key, _, place = address.partition("|")
    try:
        line = connections.connect(Path(place), bytes.fromhex(key))
    except (OSError, ValueError):
        return False
    line.send(["present", given.rank, os.getpid()])
    try:
        header, _ = line.receive()
    except (EOFError, OSError):
        return False
    match header:
        case ["here"]:
            _keep(line)
            return True
        case ["taken", int(process)]:
            raise CannotMeet(
                f"rank {given.rank} of this job runs already, as process {process}: give each rank its own RANK_ID, "
                "and two jobs at a time JOB_IDs of their own"
            )
    line.close()
    return False


def _keep(line: Any) -> None:
    """Hold the line open as long as this process lives; processes that it forks have no part in it."""
    _attendance.append(line)
    os.register_at_fork(after_in_child=line.close)
