"""``tf2npu run --devices N`` of a script for PyTorch: ranks that find each other as torch.distributed's environment says."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tf2npu.ranks import job
from tf2npu.ranks.launch_request import LaunchRequest
from tf2npu.ranks.process import Rank
from tf2npu.ranks.rank_output import Output

DEVICES_OF_HOST = 8
"""The simulated devices of a host, npu:0 to npu:7."""
ADDRESS = "127.0.0.1"
"""The address at which rank 0 keeps the store by which the ranks meet."""


def problem_of(request: LaunchRequest) -> str | None:
    """The reason why ranks of PyTorch cannot be started in this way, and what to do instead; None where they can."""
    if request.hosts or request.rank_table is not None:
        option = "--hosts" if request.hosts else "--rank-table"
        return (
            f"{option} is for scripts for TensorFlow: start PyTorch's ranks on several machines by its own launcher, "
            "tf2npu run -m torch.distributed.run --nnodes ..."
        )
    if request.engine is not None:
        return "--engine is for scripts for TensorFlow: the collective operations of PyTorch's ranks go by Gloo"
    if request.devices > DEVICES_OF_HOST:
        return f"--devices {request.devices}: a simulated host has {DEVICES_OF_HOST} devices, npu:0 to npu:{DEVICES_OF_HOST - 1}"
    return None


def run(request: LaunchRequest, words: Sequence[str], report: Path | None) -> int:
    """Run the ranks and wait for them all; the exit code of the first one that fails, else 0.

    words: what follows `tf2npu run` for each rank.  report: folder of the report that rank 0 puts the run into.
    Raises: ValueError, as `problem_of` says.
    """
    problem = problem_of(request)
    if problem:
        raise ValueError(problem)
    n_ranks = request.devices
    try:
        held = _held_port()
    except OSError as error:
        print(f"tf2npu run: the ranks cannot be started: {error}", file=sys.stderr)
        return job.CANNOT_START
    with held:
        shared = {
            "MASTER_ADDR": ADDRESS, "MASTER_PORT": str(held.getsockname()[1]), "WORLD_SIZE": str(n_ranks),
            "LOCAL_WORLD_SIZE": str(n_ranks), "GROUP_RANK": "0",
        }  # fmt: skip

        def ranks(output: Output) -> Iterator[Rank]:
            for number in range(n_ranks):
                own = {"RANK": str(number), "LOCAL_RANK": str(number)}
                reporting = ["--report", str(report)] if report is not None and number == 0 else []
                yield Rank(number, n_ranks, [*reporting, *words], {**shared, **own}, output)

        return job.run_processes("rank", ranks)


def _held_port() -> socket.socket:
    """A port that rank 0 can listen at, and no other job gets as long as this socket is open.

    It is bound alone, and only then lets others in who ask for a port by its number, as rank 0 does.
    """
    held = socket.socket()
    try:
        held.bind((ADDRESS, 0))
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    except OSError:
        held.close()
        raise
    return held


__all__ = ["problem_of", "run"]
