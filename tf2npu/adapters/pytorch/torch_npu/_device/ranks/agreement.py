"""Ranks agree on what they do before they do it.

Gloo ends the process of a rank that gets more bytes than it expects, and hangs or mixes tensors up where ranks call different
operations. So each rank first tells the others in a line of fixed size what it is about to do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

from .lane import Outside, sleep_outside

LINE_BYTES = 256
"""Size of a line; what is longer is cut."""
PATIENCE_SECONDS = 1.0
"""Seconds of waiting after which a rank puts into the store that it waits, so that it is not taken for the one that is late."""
GRACE_SECONDS = 2.0
"""Seconds for a rank that hangs up to end: its exit code is what a launcher is to see first, not those of the ranks behind it."""
SHORTEST_PAUSE, LONGEST_PAUSE = 50e-6, 2e-3
"""Seconds between two looks at whether an operation is done."""


class Agreement:
    """The agreement of a group.  ranks: their numbers in the job, in the order of the group."""

    def __init__(self, gloo: Any, store: Any, ranks: Sequence[int], timeout: timedelta) -> None:
        self._gloo, self._store, self._ranks, self._timeout = gloo, store, ranks, timeout
        self._place = gloo.rank()
        self._number = 0
        self._is_left = False

    def reach(self, text: str) -> None:
        """Wait until every rank is about to do what text says.  Raises: DistBackendError."""
        self._number += 1
        if len(self._ranks) == 1:
            return
        told = [torch.zeros(LINE_BYTES, dtype=torch.uint8) for _ in self._ranks]
        self.finish(self._gloo.allgather([told], [line_of(text)]), text)
        texts = [text_of(line) for line in told]
        if len(set(texts)) > 1:
            said = "; ".join(self._said(text, texts) for text in dict.fromkeys(texts))
            raise dist.DistBackendError(
                f"hccl: the ranks call different operations at the same time: {said}: every rank has to call the same ones, in "
                "the same order and with tensors of the same size and type"
            )

    def _said(self, text: str, texts: Sequence[str]) -> str:
        ranks = [str(rank) for rank, said in zip(self._ranks, texts, strict=True) if said == text]
        return f"rank{'s' if len(ranks) > 1 else ''} {', '.join(ranks)} {text}"

    def finish(self, work: Any, text: str) -> None:
        """Wait for a part of an operation of all.  Raises: DistBackendError: which rank is late, or that one has ended."""
        waited, pause, patience = 0.0, SHORTEST_PAUSE, min(PATIENCE_SECONDS, self._timeout.total_seconds() / 2)
        while not work.is_completed():
            sleep_outside(pause)
            waited, pause = waited + pause, min(1.5 * pause, LONGEST_PAUSE)
            if waited > patience:
                self._store.set(self._key(self._place), text)
                patience = math.inf
        try:
            work.wait()
        except RuntimeError as error:
            raise self._failed(
                text, error, [rank for place, rank in enumerate(self._ranks) if not self._is_waiting(place)]
            ) from None

    def finish_message(self, work: Any, text: str, peer: int) -> None:
        """Wait for a part of what goes to or comes from a rank of the group.  Raises: DistBackendError."""
        try:
            with Outside():  # such work does not say whether it is done
                work.wait()
        except RuntimeError as error:
            raise self._failed(text, error, [self._ranks[peer]]) from None

    def _key(self, place: int) -> str:
        return f"waits/{self._number}/{place}"

    def _failed(self, text: str, error: RuntimeError, late: Sequence[int]) -> dist.DistBackendError:
        if "Timed out" not in str(error):
            if not self._is_left:
                self._is_left = True
                sleep_outside(GRACE_SECONDS)
            return dist.DistBackendError(
                f"hccl: {text} waits for a rank that has ended or left the group: look for the first error of the other ranks"
            )
        names = ", ".join(map(str, late)) or "that calls them in another order"
        return dist.DistBackendError(
            f"hccl: {text} has waited {self._timeout.total_seconds():g} s for rank {names}, the timeout of init_process_group: "
            "every rank has to call it"
        )

    def _is_waiting(self, place: int) -> bool:
        try:
            return place == self._place or self._store.check([self._key(place)])
        except RuntimeError:  # the store's host has ended
            return False


def line_of(text: str) -> torch.Tensor:
    """A text as a line of fixed size."""
    data = bytearray(text.encode()[:LINE_BYTES].ljust(LINE_BYTES, b"\0"))
    return torch.frombuffer(data, dtype=torch.uint8)


def text_of(line: torch.Tensor) -> str:
    """The text of a line."""
    return bytes(line.tolist()).rstrip(b"\0").decode(errors="replace")
