"""The process beside the ranks that their collective operations go through."""

from __future__ import annotations

import os
import secrets
import time
from contextlib import closing, suppress
from pathlib import Path
from threading import TIMEOUT_MAX, Condition
from typing import Any

from npu_formats.environment import TF2NPU_COLLECTIVES
from npu_formats.ranks.connection import KEY_BYTES, SOCKET, BrokenMessage, Connection, KeyIsShown, listen
from npu_formats.ranks.network import KeyIsProved, listen_at
from npu_runtime.collectives import run_folder
from npu_runtime.collectives.authentication import Greeter
from npu_runtime.collectives.collective_call import Call
from npu_runtime.collectives.engine import EMBEDDED, MPI, MessageEngine
from npu_runtime.collectives.rank_totals import KeptTotals
from npu_runtime.collectives.rendezvous import Rendezvous
from npu_runtime.collectives.shm_transport import Inbox, Outbox
from npu_runtime.collectives.stragglers import Waiting

DEFAULT_SECONDS = 1800.0
"""Seconds that a call waits for the other ranks.  Source: the default of HCCL_EXEC_TIMEOUT in HCCL's documentation."""
_LOOK_SECONDS = 0.2
"""Seconds between two looks whether the ranks are still there."""
_LINGER_SECONDS = 5.0
"""Seconds for which a coordinator without ranks waits for more: ranks of one loop come within a second or two."""


class Coordinator:
    """Listens until it is closed; ranks are told apart by what they say of themselves, strangers have not the key.

    folder: for files that large arrays go through, best one in memory, and for the socket, which is gone with it.
    key: what ranks prove to have, a new one by default.  network: address and first port where ranks of other machines come.
    """

    def __init__(self, folder: Path, key: bytes = b"", network: tuple[str, int] | None = None) -> None:
        self._folder = folder
        self._key = key or secrets.token_bytes(KEY_BYTES)
        listener = listen(folder) if network is None else listen_at(*network)
        self.place = "" if network is None else "{}:{}".format(*listener.getsockname()[:2])
        self.address = f"{self._key.hex()}|{folder}"
        self._run = secrets.token_hex(8)
        self._ended: dict[int, str] = {}
        self._present: dict[int, int] = {}
        self._came: set[int] = set()
        self._changed = Condition()
        self._meetings: dict[tuple[int, ...], tuple[str, Rendezvous]] = {}
        self._messages, self._waiting = MessageEngine(), Waiting()
        self._totals = KeptTotals(self._changed, self._ended)
        self._seconds = min(float(os.environ.get("HCCL_EXEC_TIMEOUT") or DEFAULT_SECONDS), TIMEOUT_MAX)
        greet = KeyIsShown if network is None else KeyIsProved
        self._greeter = Greeter(listener, lambda link: greet(link, self._key), self._serve)

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables by which ranks find the coordinator."""
        return {TF2NPU_COLLECTIVES: self.address}

    @property
    def was_called(self) -> bool:
        """Whether any rank has called anything."""
        return bool(self._meetings)

    def leave(self, rank: int, why: str) -> None:
        """A rank takes no part any more: nobody waits for it.  why: as in "rank 1, which ended with exit code 0"."""
        with self._changed:
            self._ended[rank] = why
            self._changed.notify_all()

    def wait_for_the_end(self, size: int, seconds: float) -> None:
        """Wait until every connected rank has left. Ranks that do not come within so many seconds are not waited for."""
        begun = time.monotonic()
        gone_since = begun
        with self._changed:
            while True:
                self._changed.wait(_LOOK_SECONDS)
                now = time.monotonic()
                gone_since = now if self._present else gone_since
                if self._present and now - begun > seconds:
                    self._leave_out(size, seconds)
                are_all_gone = not self._present and len(self._came) == size
                if are_all_gone or now - gone_since > max(_LINGER_SECONDS, 0.0 if self._came else seconds):
                    return

    def _leave_out(self, size: int, seconds: float) -> None:
        why = f"nobody has started within {seconds:g} s (HCCL_CONNECT_TIMEOUT)"
        missing = [rank for rank in range(size) if rank not in self._came and rank not in self._ended]
        if missing:
            self._ended.update(dict.fromkeys(missing, why))
            self._changed.notify_all()

    def _attend(self, connection: Connection, rank: int, process: int) -> None:
        """Keep a rank's place until it hangs up.  A rank whose number was there before is one of another job."""
        with self._changed:
            answer: list[Any] = ["here", self._run]
            if rank in self._present:
                answer = ["taken", self._present[rank]]
            elif rank in self._came or rank in self._ended:
                answer = ["over"]
            else:
                self._present[rank] = process
                self._came.add(rank)
        connection.send(answer)
        if answer[0] != "here":
            return
        with suppress(EOFError, OSError, BrokenMessage):
            connection.receive()
        with self._changed:
            del self._present[rank]
            self._ended[rank] = "has ended"
            self._changed.notify_all()

    def close(self) -> None:
        """Listen no longer."""
        self._greeter.close()
        run_folder.remove(self._folder, SOCKET)

    def _serve(self, connection: Connection) -> None:
        with suppress(EOFError, OSError), closing(connection):  # the rank has ended
            self._answer(connection)

    def _answer(self, connection: Connection) -> None:
        """The calls of one rank in one group, one after the other, until it hangs up.  A broken message is told and ends it."""
        outbox = Outbox(None if self.place else self._folder, "answers")
        try:
            inbox = Inbox(None if self.place else self._folder)
            header = connection.receive()[0]
            match header:
                case ["waiting"]:
                    connection.send(["", self._waiting.document()])
                    return
                case ["totals", int(rank), dict() as document]:
                    self._totals.keep(rank, document)
                    connection.send(["", []])
                    return
                case ["ranks", int(size)]:
                    connection.send(["", self._totals.of_all(size, _LINGER_SECONDS)])
                    return
                case ["present", int(rank), int(process)]:
                    self._attend(connection, rank, process)
                    return
            rank, ranks, engine = _read_group(header)
            meeting = self._meeting(ranks, engine)
            connection.send(["", []])
            while True:
                self._watch_moves(connection, meeting, rank)
                header, carried = connection.receive()
                if not self._is_end_of_moves(header, meeting, rank):
                    call, packed = _read_call(header, ranks)
                    error, result = meeting.attend(rank, call, inbox.unpack(packed, carried), self._seconds)
                    answer, arrays = outbox.pack([] if result is None else [result])
                    connection.send([error, answer], arrays)
                else:
                    connection.send(["", []])
        except BrokenMessage as error:
            connection.send([f"the coordinator has got a broken message: {error}", []])
        finally:
            outbox.close()

    def _meeting(self, ranks: tuple[int, ...], engine: str) -> Rendezvous:
        """Raises: BrokenMessage where other ranks of the group have another engine."""
        with self._changed:
            if ranks not in self._meetings:
                messages = self._messages if engine == MPI else None
                self._meetings[ranks] = engine, Rendezvous(ranks, self._ended, self._changed, messages, self._waiting)
            chosen, meeting = self._meetings[ranks]
        if chosen != engine:
            raise BrokenMessage(f"this rank has the engine {engine}, another one {chosen}: give all the same --engine")
        return meeting

    def _watch_moves(self, connection: Connection, meeting: Rendezvous, rank: int) -> None:
        """While a rank moves tensors, tell it when they will not come; nothing else would."""
        since = time.monotonic()
        while meeting.moves.is_moving(rank) and not connection.has_come(_LOOK_SECONDS):
            problem = meeting.moves.problem(rank, since, self._seconds)
            if problem:
                connection.send([problem, []])
                return

    def _is_end_of_moves(self, header: Any, meeting: Rendezvous, rank: int) -> bool:
        match header:
            case ["done"]:
                meeting.moves.done(rank)
            case ["finish"]:
                meeting.moves.wait_for_others(rank, _LINGER_SECONDS)
            case _:
                return False
        return True


def _read_group(header: Any) -> tuple[int, tuple[int, ...], str]:
    """A rank, the ranks of its group, and the engine that moves their tensors.  Raises: BrokenMessage."""
    match header:
        case [int(rank), list(ranks), *engine] if rank in ranks and all(type(one) is int for one in ranks):
            if len(set(ranks)) == len(ranks) and engine in ([], [MPI]):
                return rank, tuple(ranks), MPI if engine else EMBEDDED
    raise BrokenMessage(f"no rank and its group: {str(header)[:80]}")


def _read_call(header: Any, ranks: tuple[int, ...]) -> tuple[Call, list[Any]]:
    """A call, and the arrays that the rank brings, at least one.  Raises: BrokenMessage."""
    match header:
        case [str(op), str(reduction), int(root), int(tag), [_, *_] as packed]:
            return Call(op, ranks, reduction, root, tag), packed
    raise BrokenMessage(f"no call: {str(header)[:80]}")
