"""One rank's side of collective operations."""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from functools import cache, partial
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from npu_formats.environment import TF2NPU_COLLECTIVE_ENGINE, TF2NPU_COLLECTIVES, TF2NPU_COORDINATOR, TF2NPU_SERVER
from npu_formats.ranks.connection import BrokenMessage, Connection, connect
from npu_formats.ranks.network import connect_patiently
from npu_runtime.collectives.collective_call import Call
from npu_runtime.collectives.engine import EMBEDDED, MPI
from npu_runtime.collectives.mpi_engine import Mpi
from npu_runtime.collectives.mpi_messages import LOOK_SECONDS, Look, finish_sends
from npu_runtime.collectives.rank_totals import Told, own_totals
from npu_runtime.collectives.shm_transport import Inbox, Outbox, Packed, described
from npu_runtime.collectives.waiting import sentence
from npu_runtime.errors import FailedPrecondition
from npu_runtime.exit_handlers import at_process_end

_PATIENCE_SECONDS = 2.0
"""Seconds for the coordinator to say why messages between ranks fail: it knows of a rank that has ended within 0.2 s."""
_NO_ANSWER = (EOFError, OSError, BrokenMessage, KeyError, IndexError, TypeError, ValueError)
"""Errors of a request to a coordinator that is gone or that answers something else."""
_CONNECT_SECONDS = 120.0
"""Seconds for a connection to the coordinator.  Source: the default of HCCL_CONNECT_TIMEOUT in HCCL's documentation."""
Dial = Callable[[float], Connection]
"""Makes a connection to the coordinator, within some seconds."""


class Communicator:
    """Lines to the coordinator, one for each group, made when the group is first used.

    address: as Coordinator has it.  rank: this process' number in the world.  coordinator: "address:port" of one on another
    machine.  mpi: what moves the tensors, where the coordinator does not.
    """

    def __init__(self, address: str, rank: int, coordinator: str = "", mpi: Mpi | None = None) -> None:
        key, _, folder = address.partition("|")
        self._folder, self._rank, self._mpi = None if coordinator else Path(folder), rank, mpi
        self._dial: Dial = lambda _: connect(Path(folder), bytes.fromhex(key))
        if coordinator:
            self._dial = partial(connect_patiently, coordinator, bytes.fromhex(key))
        self._connect_seconds = float(os.environ.get("HCCL_CONNECT_TIMEOUT") or _CONNECT_SECONDS)
        self._process = os.getpid()
        self._seconds_in_calls = 0.0
        self._lines: dict[tuple[int, ...], _Line] = {}
        self._locks: dict[tuple[int, ...], Lock] = defaultdict(Lock)
        if mpi is not None:
            mpi.start(hashlib.sha256(key.encode()).hexdigest()[:16], rank, self._exchange_keys)

    def exchange(self, call: Call, arrays: Sequence[np.ndarray], look: Look = lambda: None) -> np.ndarray:
        """Bring arrays to a call and wait for what this rank gets.

        look: called now and then while it waits; what it raises ends the waiting, and this rank's part in the group.
        Raises: FailedPrecondition when the ranks do not fit together, one has ended, or the coordinator is gone.
        """
        library = self._mpi.library() if self._mpi is not None else None
        begun = time.perf_counter()
        with self._locks[call.ranks]:
            try:
                if call.ranks not in self._lines:
                    self._lines[call.ranks] = _line(
                        self._dial(self._connect_seconds), self._folder, self._rank, call.ranks, library
                    )
                return self._lines[call.ranks].ask(call, arrays, look)
            except (EOFError, OSError, BrokenMessage) as gone:
                raise FailedPrecondition(f"{call}: the other ranks cannot be reached any more: {gone or 'hung up'}") from None
            finally:
                self._seconds_in_calls += time.perf_counter() - begun

    def _exchange_keys(self, call: Call, keys: np.ndarray) -> np.ndarray:
        """A call that the coordinator makes itself, whatever the engine."""
        try:
            return _Line(self._dial(self._connect_seconds), self._folder, self._rank, call.ranks, MPI).ask(
                call, [keys], lambda: None
            )
        except (EOFError, OSError, BrokenMessage) as gone:
            raise FailedPrecondition(f"the other ranks cannot be reached: {gone or 'hung up'}") from None

    def finish(self) -> None:
        """Before this process ends: wait until the other ranks have what it has sent to them.

        A process that this one has forked has no part in it, nor has a line on which a thread still waits.
        """
        if os.getpid() != self._process:
            return
        if self._lines and self._rank == 0:
            self._say_who_waited()
        elif self._lines:
            self._tell_totals()  # rank 0 tells its own when it asks for those of all
        finish_sends(_PATIENCE_SECONDS)
        for ranks, line in list(self._lines.items()):
            if self._locks[ranks].acquire(blocking=False):
                line.finish()
                self._locks[ranks].release()

    def _say_who_waited(self) -> None:
        """Say on standard error who waited, once for all ranks; nothing where the coordinator is gone."""
        with suppress(*_NO_ANSWER):
            document = self._ask_about_job("waiting")
            n_ranks = max(map(len, self._lines))
            if document["last"] and n_ranks > 1:
                print(f"npu_runtime: {sentence(document, n_ranks)}", file=sys.stderr, flush=True)

    def _ask_about_job(self, *question: Any) -> Any:
        """Raises: one of _NO_ANSWER."""
        with closing(self._dial(_PATIENCE_SECONDS)) as connection:
            connection.send(list(question))
            return connection.receive()[0][1]

    def _tell_totals(self) -> None:
        with suppress(*_NO_ANSWER):
            self._ask_about_job("totals", self._rank, own_totals(self._seconds_in_calls))

    def ranks_of_job(self) -> tuple[Told, dict[str, Any]]:
        """The totals that all ranks have told, waited for a few seconds, and the ranks that the others waited for.

        Both are empty where this rank has called nothing, or the coordinator is gone.
        """
        if self._lines:
            with suppress(*_NO_ANSWER):
                self._tell_totals()
                size = max(map(len, self._lines))
                return self._ask_about_job("ranks", size), self._ask_about_job("waiting")
        return [], {}


class _Line:
    """A connection for one group and the memory beside it."""

    def __init__(
        self, connection: Connection, folder: Path | None, rank: int, ranks: tuple[int, ...], engine: str = EMBEDDED
    ) -> None:
        self._connection, self._rank = connection, rank
        self._inbox = Inbox(folder)
        self._outbox = Outbox(folder, f"rank{rank}")
        self._connection.send([rank, ranks] if engine == EMBEDDED else [rank, ranks, engine])
        self._receive()

    def ask(self, call: Call, arrays: Sequence[np.ndarray], look: Look) -> np.ndarray:
        """The result, copied, as the memory is used again.  Raises: FailedPrecondition with the coordinator's error."""
        if self._connection.is_closed:
            raise OSError("this rank has left a call before its end")
        packed, carried = self._pack(arrays)
        self._connection.send([call.op, call.reduction, call.root, call.tag, packed], carried)
        try:
            while not self._connection.has_come(LOOK_SECONDS):
                look()
        except BaseException:
            self._connection.close()  # the answer would be taken for that of the next call
            raise
        return self._receive()

    def _pack(self, arrays: Sequence[np.ndarray]) -> Packed:
        return self._outbox.pack(arrays)

    def _receive(self) -> np.ndarray:
        header, come = self._connection.receive()
        match header:
            case ["", answer]:
                return next((np.array(view) for view in self._inbox.unpack(answer, come)), np.empty(0))
            case [str(error), _]:
                raise FailedPrecondition(error)
        raise BrokenMessage(f"no answer: {str(header)[:80]}")

    def finish(self) -> None:
        """Nothing is on its way: an answer has come for all that was sent."""


class _MessageLine(_Line):
    """The coordinator lets a call through; the tensors go from rank to rank."""

    def __init__(self, connection: Connection, folder: Path | None, rank: int, ranks: tuple[int, ...], library: Any) -> None:
        super().__init__(connection, folder, rank, ranks, MPI)
        self._library = library
        self._is_told = True

    def ask(self, call: Call, arrays: Sequence[np.ndarray], look: Look) -> np.ndarray:
        """Ask as _Line does."""
        self._hear()
        tag = int(super().ask(call, arrays, look)[0])
        try:
            result = self._library.move(call, arrays, self._rank, tag, lambda: self._look(look))
        except self._library.error as error:
            if self._connection.has_come(_PATIENCE_SECONDS):
                self._receive()
            raise FailedPrecondition(f"{call}: the tensors did not arrive: {error}") from None
        except BaseException:
            self._connection.close()
            raise
        self._connection.send(["done"])
        self._is_told = False
        return result

    def _hear(self) -> None:
        """The coordinator's answer to "done"; one message is on its way at a time."""
        if not self._is_told:
            self._receive()
            self._is_told = True

    def _pack(self, arrays: Sequence[np.ndarray]) -> Packed:
        packed, carried = super()._pack(arrays[1:])
        return [described(arrays[0]), *packed], carried

    def _look(self, look: Look) -> None:
        """Whether the coordinator has something to say: that a rank has ended, or takes too long."""
        look()
        if self._connection.has_come(0):
            self._receive()

    def finish(self) -> None:
        """Finish as Communicator does; a coordinator that is gone is not waited for."""
        try:
            if not self._connection.is_closed:
                self._hear()
                self._connection.send(["finish"])
                self._receive()
        except (EOFError, OSError, BrokenMessage, FailedPrecondition):
            return


def _line(connection: Connection, folder: Path | None, rank: int, ranks: tuple[int, ...], library: Any) -> _Line:
    if library is None:
        return _Line(connection, folder, rank, ranks)
    return _MessageLine(connection, folder, rank, ranks, library)


@cache
def communicator() -> Communicator:
    """The communicator of this process, from its environment.

    Raises: FailedPrecondition where nobody has started several ranks.
    """
    address = os.environ.get(TF2NPU_COLLECTIVES)
    if not address:
        raise FailedPrecondition("several ranks are started by `tf2npu run --devices N`; this process is alone")
    mpi = None
    if os.environ.get(TF2NPU_COLLECTIVE_ENGINE) == MPI:
        mpi = Mpi(int(os.environ["RANK_SIZE"]), os.environ.get(TF2NPU_SERVER, ""))
    made = Communicator(address, int(os.environ.get("RANK_ID") or 0), os.environ.get(TF2NPU_COORDINATOR, ""), mpi)
    at_process_end(made.finish)
    return made
