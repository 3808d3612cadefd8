"""A rank table that a user has made, of any layout: whether its ranks are those of the environment, and where they are.

Source: the layouts of HCCL's documentation: 1.0 with servers, the older ones of labs and of the cloud with groups of instances.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from npu_formats.files.bounded_read import read_at_most
from npu_formats.ranks.rank_table_rules import Entry, TableRules
from npu_formats.whole_number import whole_number

_MOST_BYTES = 16 << 20
"""Largest size of a table: one of 32,768 ranks has 4 MB."""
_COMPLETED = "completed"


def read_rank_table(path: Path, size: int | None, name: str = "RANK_TABLE_FILE") -> tuple[str, ...]:
    """The address of each rank's server, as the table has it.  size: how many ranks there are, if that is known.

    name: what gave the path.
    Raises: ValueError that names file and field, for a table that is none, or that does not fit RANK_SIZE.
    """
    shown = f"{name}={path}"
    return servers_of(_read(path, shown), size, shown)


def servers_of(table: dict[str, Any], size: int | None, shown: str) -> tuple[str, ...]:
    """The same of a table that has been read.  shown: what messages call it.  Raises: ValueError."""
    if table.get("status") != _COMPLETED:
        raise ValueError(f'{shown}: "status" is {table.get("status")!r:.40}: a table in use has "{_COMPLETED}"')
    if "super_pod_list" in table:
        raise ValueError(f'{shown}: "super_pod_list": super-pods are not simulated; write a table of layout 1.0')
    devices = list(_devices(table, shown))
    rules = TableRules(table, shown)
    rules.check(devices)
    servers = [_address(server) for server, _ in devices]
    if not servers or len(servers) != (size or len(servers)):
        raise ValueError(f"{shown}: it has {len(servers)} devices, and RANK_SIZE is {size}: make them equal")
    numbers = list(_rank_ids(table, devices, rules))
    _check_numbers(sorted(numbers), len(servers), shown)
    return tuple(server for _, server in sorted(zip(numbers, servers, strict=True)))


def place_in_pod(path: Path, pod: str, device: int) -> int | None:
    """The number of a device among all of the table's; pod: the name of its instance.  None for a table without pods.

    Raises: ValueError, as above.
    """
    shown = f"RANK_TABLE_FILE={path}"
    table = _read(path, shown)
    if "group_list" not in table:
        return None
    devices, pods = list(_devices(table, shown)), []
    TableRules(table, shown).check(devices)
    for (instance, one), number in zip(devices, _counted(devices), strict=True):
        pods.append(str(instance.get("pod_name")))
        if pods[-1] == pod and int(one["device_id"]) == device:
            return number
    if pod in pods:
        raise ValueError(f'{shown}: "pod_name" {pod!r:.60} has no "device_id" {device}')
    raise ValueError(
        f'RANK_ID={pod!r:.60}: {shown} has no such "pod_name"; write a number, or one of {", ".join(dict.fromkeys(pods))!r:.200}'
    )


def _read(path: Path, shown: str) -> dict[str, Any]:
    try:
        table = json.loads(read_at_most(path, _MOST_BYTES).decode("utf-8"))
    except OSError as error:
        raise ValueError(f"{shown}: it cannot be read: {error.strerror or error}") from None
    except json.JSONDecodeError as error:
        raise ValueError(
            f"{shown}, line {error.lineno}: no JSON: {error.msg}; a comma behind the last entry is a usual reason"
        ) from None
    except (ValueError, RecursionError):
        raise ValueError(f"{shown}: no JSON") from None
    if not isinstance(table, dict):
        raise ValueError(f"{shown}: it is no JSON object")
    return table


def _devices(table: dict[str, Any], shown: str) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Each device with its server, or with the instance that it belongs to."""
    if "server_list" in table:
        for server in _objects(table, "server_list", shown):
            for device in _objects(server, "device", shown):
                yield server, device
        return
    for group in _objects(table, "group_list", shown):
        for instance in _objects(group, "instance_list", shown):
            for device in _objects(instance, "devices", shown):
                yield instance, device


def _address(server: dict[str, Any]) -> str:
    """The address of the machine: "server_id" is often one, and "host_ip" always, where a table has it."""
    return str(server.get("host_ip") or server.get("server_id", ""))


def _rank_ids(table: dict[str, Any], devices: Sequence[Entry], rules: TableRules) -> Iterator[int]:
    """The numbers that the table gives.  Raises: ValueError."""
    if "server_list" not in table and "deploy_mode" not in table:
        yield from _counted(devices)
        return
    for server, device in devices:
        text = rules.text(device if "server_list" in table else server, "rank_id")
        number = whole_number(text)
        if number is None:
            raise ValueError(f'{rules.shown}: "rank_id" is {text:.40}: write a whole number')
        yield number


def _counted(devices: Sequence[Entry]) -> list[int]:
    """The numbers of a table that gives none: HCCL counts server by server, in the order of their names, and device by device."""
    order = sorted(range(len(devices)), key=lambda i: (devices[i][0]["server_id"], int(devices[i][1]["device_id"])))
    numbers = dict(zip(order, range(len(order)), strict=True))
    return [numbers[i] for i in range(len(devices))]


def _objects(place: Any, key: str, shown: str) -> list[dict[str, Any]]:
    found = place.get(key) if isinstance(place, dict) else None
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise ValueError(f'{shown}: "{key}" is missing, or is no list of objects')
    return found


def _check_numbers(numbers: list[int], size: int, shown: str) -> None:
    for wanted, number in enumerate(numbers):
        if number != wanted:
            what = "twice" if number < wanted else f"where {wanted} is due"
            raise ValueError(f'{shown}: "rank_id" {number} is there {what}: number the ranks from 0 to {size - 1}')
