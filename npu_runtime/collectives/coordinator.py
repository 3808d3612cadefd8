"""The process beside the ranks that their collective operations go through."""

from __future__ import annotations

import os
import secrets
import socket
from itertools import count
from multiprocessing.connection import Connection, Listener
from pathlib import Path
from threading import Condition, Thread

from npu_runtime.collectives.call import ADDRESS_VARIABLE
from npu_runtime.collectives.mailing import Inbox, Outbox
from npu_runtime.collectives.meeting import Meeting

DEFAULT_SECONDS = 1800.0
"""How long a call waits for the other ranks.  Source: the default of HCCL_EXEC_TIMEOUT in HCCL's documentation."""

LONGEST_NAME = 104
"""Bytes of a socket's name, with the zero behind it.  Source: sun_path of sys/un.h, 108 on Linux and 104 on macOS."""


def _place(folder: Path) -> str | None:
    """A socket's name, None for any: where there are no such sockets, or the name is too long for one."""
    path = str(folder / "coordinator")
    return path if hasattr(socket, "AF_UNIX") and len(os.fsencode(path)) < LONGEST_NAME else None


class Coordinator:
    """Listens until it is closed; ranks are told apart by what they say of themselves, strangers have not the key.

    folder: for files that large arrays go through, best one in memory, and for the socket, which is gone with it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        key = secrets.token_bytes(16)
        self._listener = Listener(_place(folder), backlog=64, authkey=key)
        self.address = f"{self._listener.address}|{key.hex()}|{folder}"
        self._ended: dict[int, str] = {}
        self._changed = Condition()
        self._meetings: dict[tuple[int, ...], Meeting] = {}
        self._seconds = float(os.environ.get("HCCL_EXEC_TIMEOUT") or DEFAULT_SECONDS)
        self._is_closed = False
        self._numbers = count()
        Thread(target=self._accept, name="coordinator", daemon=True).start()

    @property
    def was_called(self) -> bool:
        """Whether any rank has called anything."""
        return bool(self._meetings)

    def leave(self, rank: int, why: str) -> None:
        """A rank takes no part any more: nobody waits for it.  why: as in "rank 1, which ended with exit code 0"."""
        with self._changed:
            self._ended[rank] = why
            self._changed.notify_all()

    def close(self) -> None:
        """Listen no longer."""
        self._is_closed = True
        self._listener.close()

    def _accept(self) -> None:
        while not self._is_closed:
            try:
                connection = self._listener.accept()
            except Exception:  # closed, or somebody who has not the key
                continue
            Thread(target=self._serve, args=(connection,), name="group of ranks", daemon=True).start()

    def _serve(self, connection: Connection) -> None:
        """The calls of one rank in one group, one after the other, until it hangs up."""
        inbox, outbox = Inbox(), Outbox(self._folder, f"answers-{next(self._numbers)}")
        try:
            rank, ranks = connection.recv()
            with self._changed:
                meeting = self._meetings.setdefault(ranks, Meeting(ranks, self._ended, self._changed))
            while True:
                call, packed = connection.recv()
                error, result = meeting.attend(rank, call, inbox.unpack(packed), self._seconds)
                connection.send((error, outbox.pack([] if result is None else [result])))
        except (EOFError, OSError):
            connection.close()
            outbox.close()


__all__ = ["ADDRESS_VARIABLE", "Coordinator"]
