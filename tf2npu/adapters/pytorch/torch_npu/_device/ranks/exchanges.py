"""Collective operations on rows of the hosts' memory, by Gloo."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.distributed as dist

from .agreement import Agreement


class Received:
    """The place for bytes of another rank.  place: a tensor of the host; one with gaps is filled by way of a row."""

    def __init__(self, place: torch.Tensor) -> None:
        self._place = place
        self._row = place if place.is_contiguous() else torch.empty(place.shape, dtype=place.dtype, device=place.device)
        self.bytes = self._row.view(-1).view(torch.uint8)

    def finish(self) -> None:
        """Bring what has come to its place."""
        if self._row is not self._place:
            self._place.copy_(self._row)


class Exchanges:
    """The operations of a group.  Each waits until it is done.  Raises: DistBackendError."""

    def __init__(self, gloo: Any, agreement: Agreement) -> None:
        self._gloo, self._agreement = gloo, agreement

    def _wait(self, name: str, work: Any) -> None:
        self._agreement.finish(work, name)

    def all_reduce(self, row: torch.Tensor, op: Any) -> None:
        """Reduce a row in place, to the same bits on every rank."""
        options = dist.AllreduceOptions()
        options.reduceOp = op
        self._wait("allreduce", self._gloo.allreduce([row], options))

    def broadcast(self, row: torch.Tensor, root: int) -> None:
        """Bring the bytes of a rank to all."""
        if row.numel():
            self._wait("broadcast", self._gloo.broadcast(row, root))

    def all_gather(self, received: Sequence[Received], row: torch.Tensor) -> None:
        """Bring the bytes of each rank to all; of ranks with other sizes by a broadcast each."""
        places = [one.bytes for one in received]
        if len({place.numel() for place in places}) > 1:
            for root, place in enumerate(places):
                if root == self._gloo.rank():
                    place.copy_(row)
                self.broadcast(place, root)
        elif row.numel():
            self._wait("allgather", self._gloo.allgather([places], [row]))
        for one in received:
            one.finish()

    def scatter(self, received: Received, rows: Sequence[torch.Tensor], root: int) -> None:
        """Bring a rank's rows to the others, one to each."""
        options = dist.ScatterOptions()
        options.rootRank = root
        if received.bytes.numel():
            self._wait("scatter", self._gloo.scatter([received.bytes], [list(rows)] if rows else [], options))
        received.finish()

    def all_to_all(self, received: Sequence[Received], rows: Sequence[torch.Tensor]) -> None:
        """Bring each row to the rank of its place.  Raises: DistBackendError also where sizes do not fit."""
        out, given = [one.bytes.numel() for one in received], [row.numel() for row in rows]
        self._check_sizes(out, given)
        joined = torch.empty(sum(out), dtype=torch.uint8)
        self._wait("alltoall", self._gloo.alltoall_base(joined, torch.cat(list(rows)), out, given))
        for one, part in zip(received, joined.split(out), strict=True):
            one.bytes.copy_(part)
            one.finish()

    def _check_sizes(self, out: Sequence[int], given: Sequence[int]) -> None:
        told = [torch.empty(len(given), dtype=torch.int64) for _ in given]
        self._wait("alltoall", self._gloo.allgather([told], [torch.tensor(given)]))
        own = self._gloo.rank()
        for rank, line in enumerate(told):
            if int(line[own]) != out[rank]:
                raise dist.DistBackendError(
                    f"hccl: alltoall: rank {rank} of the group sends {int(line[own])} bytes to rank {own}, which waits for "
                    f"{out[rank]}"
                )
