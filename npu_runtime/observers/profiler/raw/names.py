"""Names in the raw records of the host, which have numbers for them, and the head that all of its records begin with."""

from __future__ import annotations

import hashlib
import struct

from npu_runtime.observers.profiler.host_log import HostCall

MAGIC = 0x5A5A
"""First two bytes of every record of the host."""
_NUMBER_BYTES = 7
"""Bytes of a name's number: fewer than 8, since the parser's database has signed integers of 8."""

_HEADER = struct.Struct("<HHIIIQ")


class Names:
    """Numbers that stand for names in records, and the dictionaries that give the names back."""

    def __init__(self) -> None:
        self._names: dict[str, int] = {}
        self._types: dict[tuple[int, str], int] = {}

    def of(self, name: str) -> int:
        """The number of a name of a node, type, model or kernel: of its text alone, so that runs agree."""
        if name not in self._names:
            digest = hashlib.blake2b(name.encode(), digest_size=_NUMBER_BYTES).digest()
            self._names[name] = int.from_bytes(digest, "little")
        return self._names[name]

    def of_type(self, level: int, name: str) -> int:
        """The number of a kind of call or record within its level."""
        return self._types.setdefault((level, name), len(self._types) + 1)

    def dictionary(self) -> bytes:
        """`number:name` a line."""
        return "".join(f"{number}:{name}\n" for name, number in self._names.items()).encode()

    def type_dictionary(self) -> bytes:
        """`level_number:name` a line."""
        return "".join(f"{level}_{number}:{name}\n" for (level, name), number in self._types.items()).encode()


def header(names: Names, level: int, kind: str, call: HostCall, body: struct.Struct, at: int) -> bytes:
    """The head of a record about a call.  kind: name of the record.  body: what follows.  at: ns of the host's raw clock."""
    return _HEADER.pack(MAGIC, level, names.of_type(level, kind), call.thread, body.size, at)
