"""What the environment of a rank says: its number, how many there are, and of which job.

Source: HCCL's documentation of RANK_ID, RANK_SIZE, RANK_TABLE_FILE and the CM_* variables, which exclude a table.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tf2npu.ranks.rank_table_file import check_rank_table

MOST_RANKS = 32768
"""Ranks of a job at most.  Source: the range of CM_WORKER_SIZE in HCCL's documentation."""
CONNECT_SECONDS = 120.0
"""Seconds in which all ranks of a job have to come.  Source: the default of HCCL_CONNECT_TIMEOUT in HCCL's documentation."""
_CHIEF = ("CM_CHIEF_IP", "CM_CHIEF_PORT")


@dataclass(frozen=True)
class RankEnvironment:
    """job: a name that the ranks of one job share and no other job of this user has.  seconds: for all of them to come."""

    rank: int
    size: int
    job: str
    seconds: float


def rank_environment(environment: Mapping[str, str]) -> RankEnvironment | None:
    """That of a process which a script started as one of several ranks; None for a process that is alone.

    Raises: ValueError that names the variable, or the file and its field, and the way out.
    """
    name = "CM_WORKER_SIZE" if "CM_WORKER_SIZE" in environment else "RANK_SIZE"
    if not environment.get(name) or not environment.get("RANK_ID"):
        return None
    size = _number(environment, name, 0, MOST_RANKS)
    if size <= 1:
        return None
    rank = _number(environment, "RANK_ID", 0, size - 1)
    table = environment.get("RANK_TABLE_FILE", "")
    chief = [variable for variable in _CHIEF if environment.get(variable)]
    if table and chief:
        raise ValueError(f"RANK_TABLE_FILE and {chief[0]} are both set, and exclude each other: unset one")
    if table:
        check_rank_table(Path(table), rank, size)
    seconds = _seconds(environment)
    place = os.path.realpath(table) if table else ":".join(environment.get(variable, "") for variable in _CHIEF)
    key = "\0".join((environment.get("JOB_ID", ""), place, str(size)))
    return RankEnvironment(rank, size, hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()[:32], seconds)


def _number(environment: Mapping[str, str], name: str, least: int, most: int) -> int:
    text = environment[name].strip()
    if not (text.isascii() and text.isdecimal() and len(text) < 10 and least <= int(text) <= most):
        raise ValueError(f"{name}={environment[name]!r:.60}: write a whole number from {least} to {most}")
    return int(text)


def _seconds(environment: Mapping[str, str]) -> float:
    text = environment.get("HCCL_CONNECT_TIMEOUT", "").strip()
    if not text:
        return CONNECT_SECONDS
    if not (text.isascii() and text.replace(".", "", 1).isdecimal() and len(text) < 10):
        raise ValueError(f"HCCL_CONNECT_TIMEOUT={text!r:.60}: write a number of seconds")
    return float(text)
