"""Ranks of a job: who this is, and how many there are."""

from __future__ import annotations

from mindspore.communication._ranks import group_size, rank

HCCL_WORLD_COMM_GROUP = "hccl_world_group"

__all__ = ["get_group_size", "get_rank", "init"]


def init(backend_name: str | None = None) -> None:
    """Joins the ranks.  Raises: ValueError for another backend than "hccl"."""
    if backend_name not in (None, "hccl"):
        raise ValueError(f'init({backend_name!r}): an Ascend NPU has "hccl"')


def get_rank(group: str = HCCL_WORLD_COMM_GROUP) -> int:
    """The number of this rank."""
    return rank()


def get_group_size(group: str = HCCL_WORLD_COMM_GROUP) -> int:
    """The number of ranks."""
    return group_size()
