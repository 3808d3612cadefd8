"""The rank of this process in the job that `tf2npu run --devices` started; a process of its own is rank 0 of 1."""

from __future__ import annotations

import os


def group_size() -> int:
    """The number of ranks."""
    return int(os.environ.get("RANK_SIZE", "1"))


def rank() -> int:
    """The number of this rank."""
    return int(os.environ.get("RANK_ID", "0"))
