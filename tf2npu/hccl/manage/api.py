"""Groups of ranks, and who is who in them."""

from __future__ import annotations

from hccl import _groups
from hccl._groups import WORLD


def create_group(group: str, rank_num: int, rank_ids: list[int]) -> None:
    """Make a group of ``rank_num`` ranks.

    Raises: ValueError for a bad name or number, a list of another length, a negative or unknown rank, a name that is taken,
    or when this rank is not in it.
    """
    _groups.check_up("create_group")
    _groups.check_name(group)
    if not isinstance(rank_num, int) or isinstance(rank_num, bool) or rank_num <= 0:
        raise ValueError(f"rank_num must be an int above 0, got {rank_num!r}")
    if not isinstance(rank_ids, list) or len(rank_ids) != rank_num:
        raise ValueError(f"rank_ids must be a list of {rank_num} ranks, got {rank_ids!r}")
    if any(not isinstance(rank, int) or rank < 0 for rank in rank_ids):
        raise ValueError(f"rank_ids must be ints from 0 on, got {rank_ids}")
    _groups.add(group, rank_ids)


def destroy_group(group: str) -> None:
    """Take the group away; ValueError for the world group or an unknown one."""
    _groups.check_up("destroy_group")
    _groups.check_name(group)
    _groups.remove(group)


def get_rank_size(group: str = WORLD) -> int:
    """The number of ranks in the group."""
    _groups.check_up("get_rank_size")
    return _groups.group_size(group)


def get_rank_id(group: str = WORLD) -> int:
    """This rank's number in the group; ValueError when it is not in it."""
    _groups.check_up("get_rank_id")
    return _index(group, _groups.world_rank())


def get_local_rank_size(group: str = WORLD) -> int:
    """The number of ranks of the group on this host."""
    _groups.check_up("get_local_rank_size")
    return len(_local(group))


def get_local_rank_id(group: str = WORLD) -> int:
    """This rank's number among those of the group on this host."""
    get_rank_id(group)
    return _local(group).index(_groups.world_rank())


def _local(group: str) -> list[int]:
    per_host = _groups.local_size()
    host = _groups.world_rank() // per_host
    return [rank for rank in _groups.members(group) if rank // per_host == host]


def get_world_rank_from_group_rank(group: str, group_rank_id: int) -> int:
    """The world rank of a group's rank."""
    _groups.check_up("get_world_rank_from_group_rank")
    ranks = _groups.members(group)
    _check_rank("group_rank_id", group_rank_id)
    if group_rank_id >= len(ranks):
        raise ValueError(f"the group {group!r} has {len(ranks)} ranks, there is no rank {group_rank_id}")
    return ranks[group_rank_id]


def get_group_rank_from_world_rank(world_rank_id: int, group: str) -> int:
    """The group's rank of a world rank; mind the order of the arguments."""
    _groups.check_up("get_group_rank_from_world_rank")
    _groups.members(group)
    _check_rank("world_rank_id", world_rank_id)
    return _index(group, world_rank_id)


def _check_rank(name: str, rank: object) -> None:
    if not isinstance(rank, int) or isinstance(rank, bool) or rank < 0:
        raise ValueError(f"{name} must be an int from 0 on, got {rank!r}")


def _index(group: str, world_rank: int) -> int:
    ranks = _groups.members(group)
    if world_rank not in ranks:
        raise ValueError(f"rank {world_rank} is not in the group {group!r} of ranks {ranks}")
    return ranks.index(world_rank)
