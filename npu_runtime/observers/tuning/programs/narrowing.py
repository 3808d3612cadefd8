"""The operators that are tuned, and the level of the search, as `aoe_config_file` names them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from npu_formats.files.whole_file import read_bounded
from npu_runtime.lowering.lower import LoweredTask

MOST_BYTES = 1 << 20
"""Bytes of an aoe_config_file: ten thousand names of operators."""
DEEP, NORMAL = "O1", "O2"
"""Levels of search: O1 looks longer, O2 is the default.  Source: the vendor's help of its tuning command."""


DEEP_EFFORT = 4
"""Factor by which O1 tries more choices than O2. The vendor gives no number. Of 31 products of the built-in bank, four times as
many make the worst faster by 1 % and the average by 0.1 %, for half as much time again (one core of an AMD EPYC)."""


@dataclass(frozen=True)
class Narrowing:
    """names, types: of the operators to tune; both empty: all.  level: DEEP or NORMAL.

    Source: the vendor's document of `aoe_config_file`. A name counts as a whole: that of the compiled operator, or of a node of
    the user's graph in it. A type counts for fused operators that have it, too.
    """

    names: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset()
    level: str = NORMAL

    @property
    def effort(self) -> int:
        """Factor on the usual number of choices that are tried."""
        return DEEP_EFFORT if self.level == DEEP else 1

    def takes(self, task: LoweredTask) -> bool:
        """Whether a task is one of those."""
        if not (self.names or self.types):
            return True
        members = {member for op in task.ops for member in (op.name, *op.members)}
        return task.name in self.names or bool(members & self.names) or any(op.op_type in self.types for op in task.ops)


ALL = Narrowing()
"""All operators, at the default level."""


def read_narrowing(path: Path) -> Narrowing:
    """The operators and the level that a file asks for.  Raises: ValueError, which says what is wrong with it; OSError."""
    data = read_bounded(path.parent, path.name, MOST_BYTES)
    if data is None:
        raise ValueError("there is no such file")
    try:
        found = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        raise ValueError("it is no JSON") from None
    if not isinstance(found, dict):
        raise ValueError("it is no JSON object")
    level = found.get("tune_optimization_level", NORMAL)
    if level not in (DEEP, NORMAL):
        raise ValueError(f"tune_optimization_level is {level!r:.40}, wanted {DEEP} or {NORMAL}")
    return Narrowing(_texts(found, "tune_ops_name"), _texts(found, "tune_ops_type"), level)


def _texts(found: dict[str, object], key: str) -> frozenset[str]:
    """A list of texts, or a text with commas."""
    value = found.get(key, [])
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"{key} is no list of texts")
    return frozenset(item.strip() for item in value if item.strip())
