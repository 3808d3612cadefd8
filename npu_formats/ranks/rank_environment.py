"""The environment of a rank: its number, how many there are, and of which job.

Source: HCCL's documentation of RANK_ID, RANK_SIZE, RANK_TABLE_FILE and the CM_* variables, which exclude the others.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from npu_formats.environment import TF2NPU_COLLECTIVE_ENGINE, TF2NPU_JOB_KEY
from npu_formats.ranks.rank_table_file import place_in_pod, read_rank_table
from npu_formats.ranks.servers import FIRST_PORT, LEAST_KEY_CHARACTERS, Servers, is_here
from npu_formats.whole_number import whole_number

MOST_RANKS = 32768
"""Ranks of a job at most.  Source: the range of CM_WORKER_SIZE in HCCL's documentation."""
CONNECT_SECONDS = 120.0
"""Seconds in which all ranks of a job have to come.  Source: the default of HCCL_CONNECT_TIMEOUT in HCCL's documentation."""
ENGINES = ("embedded", "mpi")
_PORT = "HCCL_IF_BASE_PORT"
_CHIEF = ("CM_CHIEF_IP", "CM_CHIEF_PORT")
_DEVICE = ("ASCEND_DEVICE_ID", "DEVICE_ID")
"""Variables that name the device of a process on this machine. The first that is set counts; the second is the older name."""


@dataclass(frozen=True)
class RankEnvironment:
    """job: a name that the ranks of one job share and no other job of this user has.  seconds: for all of them to come.

    servers: where they are, None for this machine alone.
    """

    rank: int
    size: int
    job: str
    seconds: float
    servers: Servers | None = None


def rank_environment(environment: Mapping[str, str]) -> RankEnvironment | None:
    """The rank environment of a process which a script started as one of several ranks; None for a process that is alone.

    Raises: ValueError that names the variable, or the file and its field, and the way out.
    """
    name = "CM_WORKER_SIZE" if "CM_WORKER_SIZE" in environment else "RANK_SIZE"
    variable = _rank_variable(environment)
    if not environment.get(name) or variable is None:
        return None
    size = _number(environment, name, 0, MOST_RANKS)
    if size <= 1:
        return None
    table = environment.get("RANK_TABLE_FILE", "")
    chief = [variable for variable in _CHIEF if environment.get(variable)]
    if table and chief:
        raise ValueError(f"RANK_TABLE_FILE and {chief[0]} are both set, and exclude each other: unset one")
    rank = _place_in_pod(environment, Path(table), size) if table else None
    if rank is None:
        rank = _number(environment, variable, 0, size - 1)
    servers = _of_table(environment, Path(table), rank, size) if table else _of_chief(environment, rank, size)
    problem = engine_problem(environment, servers)
    if problem:
        raise ValueError(problem)
    seconds = _seconds(environment)
    if servers is not None and table:
        place = "|".join(servers.of_ranks)  # a path may be another one on each machine
    else:
        place = os.path.realpath(table) if table else ":".join(environment.get(variable, "") for variable in _CHIEF)
    key = "\0".join((environment.get("JOB_ID", ""), place, str(size)))
    job = hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()[:32]
    return RankEnvironment(rank, size, job, seconds, servers)


def engine_problem(environment: Mapping[str, str], servers: Servers | None = None) -> str | None:
    """The problem with the engine that the environment names; None where there is none."""
    engine = environment.get(TF2NPU_COLLECTIVE_ENGINE) or None
    if engine not in (None, *ENGINES):
        return f"{TF2NPU_COLLECTIVE_ENGINE}={engine!r:.60}: write {' or '.join(ENGINES)}, or unset it"
    if servers is not None and engine == "embedded":
        return f"{TF2NPU_COLLECTIVE_ENGINE}=embedded is for one machine, and these ranks are on several: unset it"
    return None


def _of_table(environment: Mapping[str, str], path: Path, rank: int, size: int) -> Servers | None:
    """A table of one server means this machine, whatever its address says."""
    servers = read_rank_table(path, size)
    if len(set(servers)) == 1:
        return None
    shown = f"RANK_TABLE_FILE={path}"
    if not is_here(servers[rank]):
        raise ValueError(
            f'{shown}: rank {rank} is on the server "{servers[rank]}", which is no address of this machine: '
            'write its address as "server_id", or beside it as "host_ip"'
        )
    port = _number({**environment, _PORT: environment.get(_PORT) or str(FIRST_PORT)}, _PORT, 1024, 65520)
    return Servers(servers, port, _key(environment, f"{shown} has {len(set(servers))} servers"))


def _of_chief(environment: Mapping[str, str], rank: int, size: int) -> Servers | None:
    """Nothing here says how many machines there are: a key says that there are several, as one machine needs none."""
    chief, own = environment.get("CM_CHIEF_IP", ""), environment.get("CM_WORKER_IP", "")
    if not chief or not environment.get(TF2NPU_JOB_KEY):
        return None
    if not environment.get("CM_CHIEF_PORT"):
        raise ValueError(
            f"CM_CHIEF_IP={chief:.60} and {TF2NPU_JOB_KEY} are set, and CM_CHIEF_PORT is not: set it to a free port there"
        )
    if not is_here(own or chief):
        raise ValueError(
            f"CM_WORKER_IP={own!r:.60} is no address of this machine: set it to the one that CM_CHIEF_IP={chief} reaches"
        )
    port = _number(environment, "CM_CHIEF_PORT", 1024, 65520)
    servers = [chief, *[""] * (size - 1)]
    servers[rank] = own or chief
    return Servers(tuple(servers), port, _key(environment, f"{TF2NPU_JOB_KEY} is set beside CM_CHIEF_IP"))


def _key(environment: Mapping[str, str], why: str) -> str:
    key = environment.get(TF2NPU_JOB_KEY, "")
    if len(key) < LEAST_KEY_CHARACTERS:
        raise ValueError(
            f"{why}, so ranks meet over the network, and {TF2NPU_JOB_KEY} is {'too short' if key else 'not set'}: "
            f"export one secret of {LEAST_KEY_CHARACTERS} characters or more on all of them, as `openssl rand -hex 32` prints"
        )
    return key


def _rank_variable(environment: Mapping[str, str]) -> str | None:
    """The variable with the number of the rank; without RANK_ID, which a chief excludes, ranks are counted by device."""
    if environment.get("RANK_ID"):
        return "RANK_ID"
    has_chief = all(environment.get(variable) for variable in _CHIEF)
    return next((variable for variable in _DEVICE if has_chief and environment.get(variable)), None)


def _place_in_pod(environment: Mapping[str, str], table: Path, size: int) -> int | None:
    """The rank of a process whose RANK_ID is the name of a pod of the table, as its clouds have it, and not a number."""
    pod = environment["RANK_ID"].strip()
    device = next((variable for variable in _DEVICE if environment.get(variable)), None)
    if pod.isdecimal() or device is None:
        return None
    return place_in_pod(table, pod, _number(environment, device, 0, size - 1))


def _number(environment: Mapping[str, str], name: str, least: int, most: int) -> int:
    text = environment[name].strip()
    number = whole_number(text)
    if number is None or not least <= number <= most:
        raise ValueError(f"{name}={environment[name]!r:.60}: write a whole number from {least} to {most}")
    return number


def _seconds(environment: Mapping[str, str]) -> float:
    text = environment.get("HCCL_CONNECT_TIMEOUT", "").strip()
    if not text:
        return CONNECT_SECONDS
    if not (text.isascii() and text.replace(".", "", 1).isdecimal() and len(text) < 10):
        raise ValueError(f"HCCL_CONNECT_TIMEOUT={text!r:.60}: write a number of seconds")
    return float(text)
