"""The request for ranks of `tf2npu run`: a number of devices, a rank table, or hosts; and the engine that moves their tensors."""

from __future__ import annotations

import json
import os
import secrets
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

from npu_formats.environment import TF2NPU_COLLECTIVE_ENGINE, TF2NPU_JOB_KEY
from npu_formats.ranks import mpi_packages
from npu_formats.ranks.rank_environment import MOST_RANKS, engine_problem
from npu_formats.ranks.rank_table_file import read_rank_table, servers_of
from npu_formats.ranks.rank_table_rules import MOST_DEVICE_ID
from npu_formats.ranks.servers import is_here
from npu_formats.ranks.shared_folder import shared_folder
from tf2npu.ranks import job
from tf2npu.ranks.hosts import run_hosts, stop_with_input
from tf2npu.ranks.rank_table import VARIABLE, table_of, write_table

FROM_INPUT = "-"
"""The rank table that --hosts hands over on standard input, with the key and the variables of the job."""
_MPIEXEC = ("PMI_RANK", "PMI_SIZE")
"""Variables that MPICH's mpiexec sets in each process that it starts."""


@dataclass(frozen=True)
class LaunchRequest:
    """The options of `tf2npu run` on ranks.

    devices: on this machine, or on each host.  hosts: their addresses.  rank_table: path of one, or FROM_INPUT.
    engine: "embedded" or "mpi", None for what the environment says, or the usual one.  launcher_exec: the command that starts
    another on a host.
    """

    devices: int = 1
    hosts: tuple[str, ...] = ()
    rank_table: str | None = None
    engine: str | None = None
    launcher_exec: str = "ssh"

    @property
    def is_for_one(self) -> bool:
        """Whether the script runs in this very process."""
        return self.devices == 1 and not self.hosts and self.rank_table is None


ALONE = LaunchRequest()
"""One rank, in this process."""


def problem_of(request: LaunchRequest) -> str | None:
    """The reason why ranks cannot be started in this way, and what to do instead; None where they can."""
    if request.hosts and request.rank_table is not None:
        return "--hosts and --rank-table say the same thing twice: leave one out"
    if request.rank_table is not None and request.devices > 1:
        return "--rank-table says how many devices there are: leave --devices out"
    if request.engine == "embedded" and len(set(request.hosts)) > 1:
        return "--engine embedded is for one machine: leave it out, or --hosts"
    if len(request.hosts) * request.devices > MOST_RANKS:
        return f"{len(request.hosts)} hosts of {request.devices} devices are more than {MOST_RANKS} ranks"
    if len(set(request.hosts)) > 1 and request.devices > MOST_DEVICE_ID + 1:
        return f"--devices {request.devices}: with --hosts a rank table is made, whose servers have {MOST_DEVICE_ID + 1} at most"
    if len(request.hosts) != len(set(request.hosts)) > 1:
        return "--hosts names a host twice: name each once, and say by --devices how many ranks it has"
    needs_mpi = (request.engine or os.environ.get(TF2NPU_COLLECTIVE_ENGINE)) == "mpi" or len(request.hosts) > 1
    return (
        (engine_problem(os.environ) if request.engine is None else None)
        or (mpi_packages.why_not() if needs_mpi else None)
        or (None if request.is_for_one else job.why_not())
    )


def prepare(request: LaunchRequest) -> None:
    """Put what this process, or the ranks that it starts, read from the environment there.  Raises: ValueError."""
    if request.engine is not None:
        os.environ[TF2NPU_COLLECTIVE_ENGINE] = request.engine
    if request.is_for_one and all(os.environ.get(name) for name in _MPIEXEC):
        os.environ.update(_of_mpiexec(os.environ))


def _of_mpiexec(environment: Mapping[str, str]) -> dict[str, str]:
    """The rank that mpiexec has given to this process; its ranks share a parent.  Raises: ValueError."""
    rank, size = (environment[name] for name in _MPIEXEC)
    local = environment.get("MPI_LOCALNRANKS", size)
    if local != size:
        raise ValueError(
            f"mpiexec has started {local} of {size} ranks on this machine: start them by --hosts, "
            "or by a rank table on each machine"
        )
    return {"RANK_ID": rank, "RANK_SIZE": size, "DEVICE_ID": rank, "JOB_ID": f"mpiexec-{os.getppid()}"}


def run(request: LaunchRequest, words: Sequence[str], report: Path | None) -> int:
    """Start the ranks and wait for them; as job.run_ranks has it.  Raises: ValueError for a rank table that is wrong."""
    if len(set(request.hosts)) > 1:
        key = os.environ.get(TF2NPU_JOB_KEY) or secrets.token_hex(32)
        return run_hosts(request.hosts, table_of(request.hosts, request.devices), key, request.launcher_exec, words, report)
    if request.rank_table is None:
        return job.run_ranks(words, request.devices, report)
    if request.rank_table == FROM_INPUT:
        return _run_from_input(words, report)
    path = Path(request.rank_table).absolute()
    servers = read_rank_table(path, None, "--rank-table")
    os.environ[VARIABLE] = str(path)
    if len(set(servers)) == 1:
        return job.run_ranks(words, len(servers), report)
    problem = mpi_packages.why_not()
    if problem:
        raise ValueError(problem)
    return _run_here(servers, words, {}, report, f"--rank-table={path}")


def _run_from_input(words: Sequence[str], report: Path | None) -> int:
    """The part of a job that another machine's `tf2npu run --hosts` wants here, until it closes the line."""
    try:
        handed: dict[str, Any] = json.loads(sys.stdin.readline())
        servers = servers_of(handed["table"], None, "--rank-table -")
        given = {str(name): str(value) for name, value in handed["environment"].items()}
    except (AttributeError, KeyError, TypeError, json.JSONDecodeError):
        raise ValueError("--rank-table - is what --hosts calls itself with: name a file") from None
    Thread(target=stop_with_input, daemon=True).start()
    with shared_folder() as folder:
        path = write_table(folder, "table.json", handed["table"])
        return _run_here(servers, words, {**given, VARIABLE: str(path)}, report, "--hosts")


def _run_here(servers: Sequence[str], words: Sequence[str], shared: Mapping[str, str], report: Path | None, shown: str) -> int:
    here = {server for server in set(servers) if is_here(server)}
    numbers = [rank for rank, server in enumerate(servers) if server in here]
    if not numbers:
        raise ValueError(f"{shown}: none of its servers, {', '.join(dict.fromkeys(servers))}, is an address of this machine")
    return job.run_ranks_of_server(words, numbers, len(servers), shared, report)
