"""One rank's side of collective operations."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from threading import Lock

import numpy as np

from npu_runtime.collectives.collective_call import ADDRESS_VARIABLE, Call
from npu_runtime.collectives.connection import BrokenMessage, connect
from npu_runtime.collectives.shm_transport import Inbox, Outbox
from npu_runtime.errors import FailedPrecondition

LOOK_SECONDS = 0.1
"""Seconds after which a waiting rank looks at what its process was asked meanwhile."""


class Communicator:
    """Lines to the coordinator, one for each group, made when the group is first used.

    address: as Coordinator has it.  rank: this process' number in the world.
    """

    def __init__(self, address: str, rank: int) -> None:
        self._address, self._rank = address, rank
        self._lines: dict[tuple[int, ...], _Line] = {}
        self._locks: dict[tuple[int, ...], Lock] = defaultdict(Lock)

    def exchange(self, call: Call, arrays: Sequence[np.ndarray], look: Callable[[], None] = lambda: None) -> np.ndarray:
        """Bring arrays to a call and wait for what this rank gets.

        look: called now and then while it waits; what it raises ends the waiting, and this rank's part in the group.
        Raises: FailedPrecondition when the ranks do not fit together, one has ended, or the coordinator is gone.
        """
        with self._locks[call.ranks]:
            try:
                if call.ranks not in self._lines:
                    self._lines[call.ranks] = _Line(self._address, self._rank, call.ranks)
                error, result = self._lines[call.ranks].ask(call, arrays, look)
            except (EOFError, OSError, BrokenMessage) as gone:
                raise FailedPrecondition(f"{call}: the other ranks cannot be reached any more: {gone or 'hung up'}") from None
        if result is None:
            raise FailedPrecondition(error)
        return result


class _Line:
    """A connection for one group and the memory beside it."""

    def __init__(self, address: str, rank: int, ranks: tuple[int, ...]) -> None:
        key, _, name = address.partition("|")
        folder = Path(name)
        self._connection = connect(folder, bytes.fromhex(key))
        self._inbox = Inbox(folder)
        self._outbox = Outbox(folder, f"rank{rank}")
        self._connection.send([rank, ranks])
        self._receive()

    def ask(self, call: Call, arrays: Sequence[np.ndarray], look: Callable[[], None]) -> tuple[str, np.ndarray | None]:
        """An error, and the result where there is none; copied, as the memory is used again."""
        if self._connection.is_closed:
            raise OSError("this rank has left a call before its end")
        packed, carried = self._outbox.pack(arrays)
        self._connection.send([call.op, call.reduction, call.root, call.tag, packed], carried)
        try:
            while not self._connection.has_come(LOOK_SECONDS):
                look()
        except BaseException:
            self._connection.close()  # the answer would be taken for that of the next call
            raise
        return self._receive()

    def _receive(self) -> tuple[str, np.ndarray | None]:
        header, come = self._connection.receive()
        match header:
            case [str(error), answer]:
                return error, next((np.array(view) for view in self._inbox.unpack(answer, come)), None)
        raise BrokenMessage(f"no answer: {str(header)[:80]}")


@cache
def communicator() -> Communicator:
    """That of this process, from its environment.

    Raises: FailedPrecondition where nobody has started several ranks.
    """
    address = os.environ.get(ADDRESS_VARIABLE)
    if not address:
        raise FailedPrecondition("several ranks are started by `tf2npu run --devices N`; this process is alone")
    return Communicator(address, int(os.environ.get("RANK_ID") or 0))
