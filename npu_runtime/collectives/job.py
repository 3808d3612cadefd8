"""A process that a script started as one of several ranks: it meets the others when a shim asks for it."""

from __future__ import annotations

import os
import sys

from npu_formats.environment import TF2NPU_COLLECTIVE_ENGINE, TF2NPU_COLLECTIVES
from npu_formats.ranks import mpi_packages
from npu_formats.ranks.rank_environment import rank_environment
from npu_runtime.collectives.engine import MPI


def join_job(shim: str) -> None:
    """Find the other ranks, where RANK_ID and RANK_SIZE say that there are any and `tf2npu run` has not started them.

    shim: name of the package that asks, for messages.
    Raises: SystemExit with a line on standard error for an environment that is wrong, or a job that has no place left.
    """
    if not os.environ.get(TF2NPU_COLLECTIVES):
        _meet(shim)
    if os.environ.get(TF2NPU_COLLECTIVES) and os.environ.get(TF2NPU_COLLECTIVE_ENGINE) == MPI:
        from npu_runtime.collectives.communicator import communicator

        communicator()  # all ranks have to be there before MPI is, and the script goes on meanwhile


def _meet(shim: str) -> None:
    try:
        given = rank_environment(os.environ)
        problem = mpi_packages.why_not() if given and (given.servers or os.environ.get(TF2NPU_COLLECTIVE_ENGINE) == MPI) else None
    except ValueError as error:
        given, problem = None, str(error)
    if problem:
        sys.exit(f"{shim}: {problem}")
    if given is None:
        return
    from npu_formats.ranks.cpu_affinity import share_cores  # most processes are alone, and need none of these
    from npu_formats.ranks.local_rendezvous import CannotMeet, join

    try:
        os.environ.update(join(given))
    except CannotMeet as error:
        sys.exit(f"{shim}: {error}")
    os.environ.pop("CM_WORKER_SIZE", None)  # says the same as RANK_SIZE, and both are an error
    os.environ.update(RANK_ID=str(given.rank), RANK_SIZE=str(given.size))  # it may be the name of a pod, or be absent
    share_cores(os.getpid(), given.rank, given.size)
