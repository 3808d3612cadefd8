"""The rank table of a run, for scripts that read one."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

from npu_formats.files.directory import Directory

VARIABLE = "RANK_TABLE_FILE"
_FIRST_ADDRESS = IPv4Address("192.168.100.100")
"""Address of the first device; no device has an address here, and each has one of its own."""
_ADDRESSES_APART = 256
"""Distance of the first addresses of a server and the next."""


def rank_table(folder: Path, n_ranks: int) -> dict[str, str]:
    """Write a rank table and name it for the ranks, unless the user has named theirs: that one is the scripts' alone to read."""
    if os.environ.get(VARIABLE):
        return {}
    return {VARIABLE: str(write_table(folder, f"{n_ranks}p.json", table_of(["127.0.0.1"], n_ranks)))}


def table_of(hosts: Sequence[str], n_devices: int) -> dict[str, Any]:
    """A rank table of layout 1.0, whose ranks are numbered host by host.  Source: HCCL's documentation."""
    servers, apart = [], max(_ADDRESSES_APART, n_devices)
    for number, host in enumerate(hosts):
        devices = [
            {"device_id": str(i), "device_ip": str(_FIRST_ADDRESS + number * apart + i), "rank_id": str(number * n_devices + i)}
            for i in range(n_devices)
        ]
        servers.append({"server_id": host, "device": devices})
    return {"version": "1.0", "status": "completed", "server_count": str(len(hosts)), "server_list": servers}


def write_table(folder: Path, name: str, table: Mapping[str, Any]) -> Path:
    """Write a table into a folder of ours; returns its path.  Raises: OSError."""
    with Directory.given(folder) as place, place.new_file(name, 0o600) as file:
        os.fchmod(file.fileno(), 0o600)  # whatever the umask has taken
        file.write(json.dumps(table, indent=1).encode("ascii"))
    return folder / name
