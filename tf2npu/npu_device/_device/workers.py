"""The workers of a job, from the environment, with the refusals of the vendor's adapter."""

from __future__ import annotations

import os
from collections.abc import Mapping

from npu_runtime.collectives.job import join_job

_OF_CHIEF = (
    ("CM_CHIEF_PORT", "You must specify cm chief port by set env CM_CHIEF_PORT in distribution mode"),
    ("CM_CHIEF_DEVICE", "You must specify cm chief device by set env CM_CHIEF_DEVICE in distribution mode"),
    ("CM_CHIEF_IP", "You must specify cm chief ip by set env CM_CHIEF_IP in distribution mode"),
)
"""Variables that a job with a chief needs, in the order in which they are asked for, and the adapter's messages."""


def join() -> tuple[int, int]:
    """The number of workers, and the number of this one; it has met the others when this returns.

    Raises: ValueError and RuntimeError with the adapter's text.  SystemExit where the others cannot be met.
    """
    size = _size(os.environ)
    if size <= 1:
        return size, 0
    _check(os.environ)
    join_job("npu_device")
    return size, int(os.environ.get("RANK_ID") or 0)


def _size(environment: Mapping[str, str]) -> int:
    rank_size, worker_size = environment.get("RANK_SIZE"), environment.get("CM_WORKER_SIZE")
    if rank_size is not None and worker_size is not None:
        raise ValueError("RANK_SIZE and CM_WORK_SIZE cannot be configured at the same time")
    return int(rank_size or worker_size or 1)


def _check(environment: Mapping[str, str]) -> None:
    has_chief, has_table = (environment.get(name) is not None for name in ("CM_CHIEF_IP", "RANK_TABLE_FILE"))
    if has_chief and has_table:
        raise RuntimeError("CM_CHIEF_IP and RANK_TABLE_FILE cannot be configured at the same time.")
    if not has_chief and not has_table:
        raise RuntimeError("CM_CHIEF_IP and RANK_TABLE_FILE are all not be configured.")
    if has_table and not environment.get("RANK_ID"):
        raise RuntimeError("You must specify rank id by set env RANK_ID in distribution mode")
    for name, message in _OF_CHIEF if has_chief else ():
        if not environment.get(name):
            raise RuntimeError(message)
