"""A collective operation as one rank calls it."""

from __future__ import annotations

from dataclasses import dataclass

ADDRESS_VARIABLE = "TF2NPU_COLLECTIVES"
"""The key of the coordinator of this run's ranks and the folder where it listens: "key in hexadecimal|folder"."""
ENGINE_VARIABLE = "TF2NPU_COLLECTIVE_ENGINE"
"""What moves the tensors: "embedded", the coordinator's memory on one machine, or "mpi"."""
COORDINATOR_VARIABLE = "TF2NPU_COORDINATOR"
"""Where the coordinator listens when ranks are on several machines: "address:port"."""
SERVER_VARIABLE = "TF2NPU_SERVER"
"""The address of this rank's machine, as the rank table has it, when there are several."""


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
