"""The meeting, on one machine, of ranks that a shell loop or a job's scheduler starts, one process at a time.

Each job has a folder of this user's with the address of its coordinator, under a lock; who finds none there starts one.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from npu_formats.environment import TF2NPU_COLLECTIVES
from npu_formats.files.directory import Directory
from npu_formats.files.lock import Busy, exclusive
from npu_formats.ranks import network_rendezvous
from npu_formats.ranks.connection import connect
from npu_formats.ranks.coordinator_request import start
from npu_formats.ranks.rank_connection import PATIENCE_SECONDS, CannotMeet, attend, known_address, note_address
from npu_formats.ranks.rank_environment import RankEnvironment

_OWN_MODE = 0o700


def join(given: RankEnvironment) -> dict[str, str]:
    """Take part in a job until this process ends; the variables by which its collective operations reach the others.

    Raises: CannotMeet.
    """
    try:
        with _job_folder(given.job) as folder:
            return _join_here(given, folder) if given.servers is None else network_rendezvous.join(given, given.servers, folder)
    except (OSError, EOFError) as error:
        raise CannotMeet(f"rank {given.rank} of {given.size} cannot meet the others: {error}") from None
    except Busy:
        raise CannotMeet(
            f"rank {given.rank} of {given.size} cannot meet the others: another process of this job does not get on"
        ) from None


def _join_here(given: RankEnvironment, folder: Directory) -> dict[str, str]:
    """Raises: CannotMeet, OSError, EOFError, Busy."""
    with exclusive(folder, patience_seconds=PATIENCE_SECONDS):
        address = known_address(folder)
        if not address or not _is_met(address, given):
            address = start(given.size, given.seconds)
            note_address(folder, address)
            if not _is_met(address, given):
                raise CannotMeet(f"rank {given.rank} of {given.size} was not let into its job: start all ranks again")
    return {TF2NPU_COLLECTIVES: address}


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


def _is_met(address: str, given: RankEnvironment) -> bool:
    """Whether a coordinator is there and has a place.  Raises: CannotMeet, OSError."""
    key, _, place = address.partition("|")
    try:
        line = connect(Path(place), bytes.fromhex(key))
    except (OSError, ValueError):
        return False
    return bool(attend(line, given))


__all__ = ["CannotMeet", "join"]
