"""The rank table of a run, for scripts that read one."""

from __future__ import annotations

import json
import os
from pathlib import Path

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
    path = folder / f"{n_ranks}p.json"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with open(descriptor, "w", encoding="utf-8") as file:
        os.fchmod(descriptor, 0o600)  # whatever the umask has taken
        json.dump(table, file, indent=1)
    return {VARIABLE: str(path)}
