"""The rank table of a run, for scripts that read one."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tf2npu.files.directory import Directory

VARIABLE = "RANK_TABLE_FILE"


def rank_table(folder: Path, n_ranks: int) -> dict[str, str]:
    """Write a rank table and name it for the ranks, unless the user has named theirs: that one is the scripts' alone to read.

    Source: layout 1.0 of the rank table in HCCL's documentation.
    """
    if os.environ.get(VARIABLE):
        return {}
    devices = [{"device_id": str(i), "device_ip": f"192.168.100.{100 + i}", "rank_id": str(i)} for i in range(n_ranks)]
    table = {
        "version": "1.0", "status": "completed", "server_count": "1",
        "server_list": [{"server_id": "127.0.0.1", "device": devices}],
    }  # fmt: skip
    name = f"{n_ranks}p.json"
    write_table(folder, name, table)
    return {VARIABLE: str(folder / name)}


def write_table(folder: Path, name: str, table: Mapping[str, Any]) -> None:
    """Write a table into a folder of ours.  Raises: OSError."""
    with Directory.given(folder) as place, place.new_file(name, 0o600) as file:
        os.fchmod(file.fileno(), 0o600)  # whatever the umask has taken
        file.write(json.dumps(table, indent=1).encode("ascii"))
