"""A collective operation as one rank calls it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Call:
    """One collective operation as one rank calls it.

    op: HCCL's name, as "HcomAllReduce".  ranks: world ranks of the group, in its order.  reduction: "sum", "prod", "min" or
    "max".  root: rank of the group.  tag: of a message, whose ranks are the sender and the receiver.
    """

    op: str
    ranks: tuple[int, ...]
    reduction: str = ""
    root: int = -1
    tag: int = -1

    def __str__(self) -> str:
        said = [self.reduction, f"root {self.root}" if self.root >= 0 else "", f"tag {self.tag}" if self.tag >= 0 else ""]
        return " ".join(filter(None, [self.op, *said]))
