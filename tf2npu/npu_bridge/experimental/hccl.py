"""Ranks as the device's runtime and as the user sees them; here they are the same."""

from __future__ import annotations

from hccl.manage.api import get_rank_id, get_rank_size


def get_actual_rank_size(group: str = "hccl_world_group") -> int:
    """The number of ranks of the group."""
    return get_rank_size(group)


def get_user_rank_size() -> int:
    """The number of ranks that the user asked for."""
    return get_rank_size()


def get_user_rank_id() -> int:
    """This rank's number as the user counts."""
    return get_rank_id()
