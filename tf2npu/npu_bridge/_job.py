"""A process that a script started as one of several ranks: it meets the others when npu_bridge is imported."""

from __future__ import annotations

import os
import sys

from npu_runtime.collectives.collective_call import ADDRESS_VARIABLE
from tf2npu.ranks.rank_environment import rank_environment


def join_job() -> None:
    """Find the other ranks, where RANK_ID and RANK_SIZE say that there are any and `tf2npu run` has not started them.

    Raises: SystemExit with a line on standard error for an environment that is wrong, or a job that has no place left.
    """
    if os.environ.get(ADDRESS_VARIABLE):
        return
    try:
        given = rank_environment(os.environ)
    except ValueError as problem:
        sys.exit(f"npu_bridge: {problem}")
    if given is None:
        return
    from tf2npu.ranks.cores import share_cores  # most processes are alone, and need none of these
    from tf2npu.ranks.meeting import CannotMeet, join

    try:
        os.environ[ADDRESS_VARIABLE] = join(given)
    except CannotMeet as problem:
        sys.exit(f"npu_bridge: {problem}")
    os.environ["RANK_ID"] = str(given.rank)  # it may be the name of a pod, or be absent
    share_cores(os.getpid(), given.rank, given.size)
