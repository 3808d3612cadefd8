"""Ranks of a job and groups of them: who this is, and how many there are.  Source: communication/management.py of r1.1, read."""

from __future__ import annotations

from typing import Any

from hccl import _groups
from hccl.manage import api
from mindspore._device.settings import settings
from mindspore.communication._ranks import WORLD

__all__ = [
    "HCCL_WORLD_COMM_GROUP", "NCCL_WORLD_COMM_GROUP", "GlobalComm", "create_group", "destroy_group",
    "get_group_rank_from_world_rank", "get_group_size", "get_local_rank", "get_local_rank_size", "get_rank",
    "get_world_rank_from_group_rank", "init", "release",
]  # fmt: skip

HCCL_WORLD_COMM_GROUP, NCCL_WORLD_COMM_GROUP = WORLD, "nccl_world_group"
_is_up = [False]


class GlobalComm:
    """The library of communication and the group of all ranks."""

    BACKEND = "hccl"
    WORLD_COMM_GROUP = WORLD


def init(backend_name: str | None = None) -> None:
    """Joins the ranks.  Raises: TypeError for a name that is no text; RuntimeError for another library or target."""
    if backend_name is not None and not isinstance(backend_name, str):
        raise TypeError(f"init({backend_name!r}): the name of a library, a text")
    if backend_name not in (None, "hccl"):
        raise RuntimeError(f'init({backend_name!r}): an Ascend NPU has "hccl"')
    if settings["device_target"] != "Ascend":
        raise RuntimeError(
            f'init(): the target is {settings["device_target"]!r}: set_context(device_target="Ascend") comes before'
        )
    _groups.set_up()
    _is_up[0] = True


def release() -> None:
    """Leaves the ranks."""
    _is_up[0] = False


def _asked(call: str, group: Any) -> str:
    """The group of a call.  Raises: TypeError for what is no text; RuntimeError before init()."""
    if not isinstance(group, str):
        raise TypeError(f"{call}(group={group!r}): the name of a group, a text")
    if not _is_up[0]:
        raise RuntimeError(f"{call}() comes before init(): call mindspore.communication.management.init() first")
    return group


def get_rank(group: str = WORLD) -> int:
    """The number of this rank in a group."""
    return api.get_rank_id(_asked("get_rank", group))


def get_local_rank(group: str = WORLD) -> int:
    """The number of this rank among those of a group on this host."""
    return api.get_local_rank_id(_asked("get_local_rank", group))


def get_group_size(group: str = WORLD) -> int:
    """The number of ranks of a group."""
    return api.get_rank_size(_asked("get_group_size", group))


def get_local_rank_size(group: str = WORLD) -> int:
    """The number of ranks of a group on this host."""
    return api.get_local_rank_size(_asked("get_local_rank_size", group))


def _own_group(call: str, group: Any) -> str:
    """A group that a program has made.  Raises: ValueError for that of all ranks."""
    if _asked(call, group) == WORLD:
        raise ValueError(f"{call}({group!r}): the group is one that create_group made")
    return group


def get_world_rank_from_group_rank(group: str, group_rank_id: int) -> int:
    """The number among all ranks of a group's rank."""
    _check_rank("group_rank_id", group_rank_id)
    return api.get_world_rank_from_group_rank(_own_group("get_world_rank_from_group_rank", group), group_rank_id)


def get_group_rank_from_world_rank(world_rank_id: int, group: str) -> int:
    """The number in a group of one of all ranks."""
    _check_rank("world_rank_id", world_rank_id)
    return api.get_group_rank_from_world_rank(world_rank_id, _own_group("get_group_rank_from_world_rank", group))


def _check_rank(name: str, value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name}={value!r}: the number of a rank")


def create_group(group: str, rank_ids: list[int]) -> None:
    """Makes a group of ranks.  Raises: TypeError for no list; ValueError for ranks that do not fit."""
    _asked("create_group", group)
    if not isinstance(rank_ids, list):
        raise TypeError(f"create_group({group!r}, {rank_ids!r}): a list of ranks")
    api.create_group(group, len(rank_ids), rank_ids)


def destroy_group(group: str) -> None:
    """Takes a group away."""
    api.destroy_group(_own_group("destroy_group", group))
