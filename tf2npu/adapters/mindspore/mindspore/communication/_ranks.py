"""The rank of this process in the job that `tf2npu run --devices` started; a process of its own is rank 0 of 1."""

from __future__ import annotations

from hccl import _groups

WORLD = _groups.WORLD


def group_size() -> int:
    """The number of ranks."""
    return _groups.world_size()


def rank() -> int:
    """The number of this rank."""
    return _groups.world_rank()
