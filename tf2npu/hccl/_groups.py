"""Ranks and groups, from the environment and from ``create_group``."""

from __future__ import annotations

import os
from collections.abc import Callable

WORLD = "hccl_world_group"
MAX_NAME = 127
"""The most characters of a group's name. Source: the vendor's documentation of create_group."""
_groups: dict[str, list[int]] = {}
_is_up = False
# Set by npu_bridge: what to do about a call that comes before the first session, which a host refuses.
on_early_call: Callable[[str], None] | None = None


def _number(names: tuple[str, ...], default: int) -> int:
    for name in names:
        text = os.environ.get(name)
        if text:
            try:
                return int(text)
            except ValueError:
                raise ValueError(f"{name} must be a number, got {text!r}") from None
    return default


def set_up(is_up: bool = True) -> None:
    """Note that a session or initialize_system has brought the collective library up."""
    global _is_up
    _is_up = is_up


def check_up(call: str) -> None:
    """Reports a call of the management interface before the library is up: a host answers only when it is."""
    if not _is_up and on_early_call is not None:
        on_early_call(call)


def world_size() -> int:
    """The number of ranks that take part: RANK_SIZE, else CM_WORKER_SIZE, else 1."""
    return _number(("RANK_SIZE", "CM_WORKER_SIZE"), 1)


def world_rank() -> int:
    """The number of this rank among all."""
    return _number(("RANK_ID",), 0)


def local_size() -> int:
    """The number of ranks on this host: LOCAL_RANK_SIZE, else the number of all."""
    return _number(("LOCAL_RANK_SIZE",), world_size())


def local_rank() -> int:
    """The number of this rank on its host."""
    return world_rank() % local_size()


def check_name(group: object) -> str:
    """Raises: ValueError for a group name that is no text, empty or too long."""
    if not isinstance(group, str) or not group:
        raise ValueError(f"group must be a non-empty str, got {group!r}")
    if len(group) > MAX_NAME:
        raise ValueError(f"group names have at most {MAX_NAME} characters, this has {len(group)}: {group[:20]}...")
    return group


def members(group: str) -> list[int]:
    """World ranks of the group, in its own order; ValueError when there is no such group."""
    if check_name(group) == WORLD:
        return list(range(world_size()))
    if group not in _groups:
        raise ValueError(f"there is no group {group!r}; known: {', '.join([WORLD, *sorted(_groups)])}")
    return _groups[group]


def group_size(group: str) -> int:
    """The number of ranks in the group."""
    return len(members(group))


def add(group: str, rank_ids: list[int]) -> None:
    """Remember a new group; ValueError when the name is taken, a rank does not exist, or this rank is missing."""
    if group in _groups or group == WORLD:
        raise ValueError(f"the group {group!r} exists already")
    outside = [rank for rank in rank_ids if rank >= world_size()]
    if outside or len(set(rank_ids)) != len(rank_ids):
        raise ValueError(f"rank_ids must be different ranks below {world_size()}, got {rank_ids}")
    if world_rank() not in rank_ids:
        raise ValueError(f"this rank, {world_rank()}, is not in rank_ids {rank_ids}")
    _groups[group] = list(rank_ids)


def remove(group: str) -> None:
    """Forget a group; ValueError for the world group or an unknown one."""
    if group == WORLD:
        raise ValueError("the world group cannot be destroyed")
    members(group)
    del _groups[group]


def clear() -> None:
    """Forget every group that was created."""
    _groups.clear()
