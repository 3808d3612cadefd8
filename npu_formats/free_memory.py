"""The memory that this machine has for a process: what the system calls available, or what is left of a container's limit."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

_MEMINFO, _OWN_GROUPS, _GROUPS = "/proc/meminfo", "/proc/self/cgroup", "/sys/fs/cgroup"
_V1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
_V2 = ("memory.max", "memory.current", "inactive_file")
"""Files with the limit and the use of a control group, and the line of memory.stat with what the kernel gives up at once.
Source: Documentation/admin-guide/cgroup-v1/memory.rst and cgroup-v2.rst of Linux."""

Read = Callable[[str], str]
"""read(path) gives the text of a file, "" where there is none."""


def _text_of(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def free_bytes(read: Read = _text_of) -> int | None:
    """Bytes that processes may still take; None where the system does not say."""
    found = re.search(r"^MemAvailable:\s*(\d+) kB", read(_MEMINFO), re.MULTILINE)
    left = [int(found[1]) * 1024] if found else []
    for line in read(_OWN_GROUPS).splitlines():
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        if not controllers:
            left += _left_in_groups(read, _GROUPS, path, _V2)
        elif "memory" in controllers.split(","):
            left += _left_in_groups(read, f"{_GROUPS}/memory", path, _V1)
    return min(left, default=None)


def _left_in_groups(read: Read, root: str, path: str, names: tuple[str, str, str]) -> list[int]:
    """Bytes that are left in a group and in those around it; in a container, its own group is the root of what it sees."""
    parts = [part for part in path.split("/") if part]
    folders = ["/".join([root, *parts[:n]]) for n in range(len(parts), -1, -1)]
    return [left for folder in folders if (left := _left_in_group(read, folder, names)) is not None]


def _left_in_group(read: Read, folder: str, names: tuple[str, str, str]) -> int | None:
    limit, used = (read(f"{folder}/{name}").strip() for name in names[:2])
    if not (limit.isdecimal() and used.isdecimal()):
        return None  # "max" where there is no limit
    found = re.search(rf"^{names[2]} (\d+)$", read(f"{folder}/memory.stat"), re.MULTILINE)
    return max(int(limit) - int(used) + (int(found[1]) if found else 0), 0)
