"""Tensors from one rank to another: a line that says what comes, and then the bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
import torch.distributed as dist

from .agreement import LINE_BYTES, Agreement, line_of, text_of
from .lane import Lane, Outcome


class _Way(NamedTuple):
    """kind: "send" or "recv".  peer: place of the other rank in the group."""

    kind: str
    peer: int
    tag: int


class Messages:
    """The messages of a group. Each way to or from a rank has a lane of its own: a rank may wait in one and send in another."""

    def __init__(self, gloo: Any, agreement: Agreement, ranks: Sequence[int]) -> None:
        self._gloo, self._agreement, self._ranks = gloo, agreement, ranks
        self._lanes: dict[_Way, Lane] = {}

    def send(self, row: torch.Tensor, form: str, peer: int, tag: int) -> Outcome:
        """Send bytes.  form: type and size as messages say them."""
        what = f"send to rank {self._ranks[peer]} {form}"

        def call() -> None:
            self._agreement.finish_message(self._gloo.send([line_of(f"{row.numel()} {form}")], peer, 2 * tag), what, peer)
            self._agreement.finish_message(self._gloo.send([row], peer, 2 * tag + 1), what, peer)

        return self._lane(_Way("send", peer, tag)).submit(call)

    def receive(self, row: torch.Tensor, form: str, peer: int, tag: int) -> Outcome:
        """Receive bytes.  The outcome raises DistBackendError where something else comes."""
        what = f"recv from rank {self._ranks[peer]} {form}"

        def call() -> None:
            line = torch.empty(LINE_BYTES, dtype=torch.uint8)
            self._agreement.finish_message(self._gloo.recv([line], peer, 2 * tag), what, peer)
            size, _, sent = text_of(line).partition(" ")
            place = row if sent == form else torch.empty(int(size), dtype=torch.uint8)  # so that the other rank goes on
            self._agreement.finish_message(self._gloo.recv([place], peer, 2 * tag + 1), what, peer)
            if place is not row:
                raise dist.DistBackendError(f"hccl: {what}: that rank sends {sent}")

        return self._lane(_Way("recv", peer, tag)).submit(call)

    def _lane(self, way: _Way) -> Lane:
        if way not in self._lanes:
            self._lanes[way] = Lane(f"hccl {way.kind}")
        return self._lanes[way]
