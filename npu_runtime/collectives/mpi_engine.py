"""A rank's side of the engine mpi: MPI started beside the script's own start, and the messages of a call."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from threading import Thread
from typing import Any

import numpy as np

from npu_formats.ranks.mpi_packages import why_not
from npu_runtime.collectives.collective_call import Call
from npu_runtime.collectives.mpi_library import Environment, started, unlink_shared_memory, why_no_room
from npu_runtime.collectives.mpi_messages import Look, Messages, move
from npu_runtime.collectives.process_management import Exchange, ProcessManager
from npu_runtime.collectives.reduce_ops import KEY_EXCHANGE
from npu_runtime.errors import FailedPrecondition

_NO_ROOM = "no room"
"""The key under which a rank says that its machine has too little memory for files, so that all give up alike."""

ExchangeKeys = Callable[[Call, np.ndarray], np.ndarray]
"""Brings bytes to all ranks and gives those of all, one behind the other.  Raises: FailedPrecondition."""


class Library:
    """MPI, ready.  error: what it raises when a message fails."""

    def __init__(self, module: Any) -> None:
        self._module = module
        self.error: type[Exception] = module.Exception

    def move(self, call: Call, arrays: Sequence[np.ndarray], rank: int, tag: int, look: Look) -> np.ndarray:
        """Moves the tensors of a call and returns the rank's result.  look: as Messages has it."""
        return move(Messages(self._module, call, rank, tag, look), call, arrays)


class Mpi:
    """size: ranks of the job.  server: address of this machine, empty where all ranks are on one."""

    def __init__(self, size: int, server: str) -> None:
        self._size, self._server = size, server
        self._library: Library | None = None
        self._error: FailedPrecondition | None = None
        self._environment: Environment | None = None
        self._thread: Thread | None = None

    def start(self, job: str, rank: int, exchange_keys: ExchangeKeys) -> None:
        """Begin; it ends when all ranks have begun, and the script goes on meanwhile.

        job: as ProcessManager has it.
        """
        problem = why_not()
        if problem:
            self._error = FailedPrecondition(problem)
            return
        exchange = partial(_exchanged, size=self._size, exchange_keys=exchange_keys)
        manager = ProcessManager(job, rank, self._size, exchange)
        self._environment = Environment(manager, self._server)
        self._thread = Thread(target=self._run, args=(manager, rank, exchange), name="start of MPI", daemon=True)
        self._thread.start()

    def _run(self, manager: ProcessManager, rank: int, exchange: Exchange) -> None:
        try:
            problem = why_no_room(self._size)
            everywhere = exchange({str(rank): self._server, **({_NO_ROOM: f"rank {rank}: {problem}"} if problem else {})})
            if _NO_ROOM in everywhere:
                raise FailedPrecondition(everywhere[_NO_ROOM])
            manager.place([everywhere[str(number)] for number in range(self._size)])
            module = started(manager)
            exchange({})
            unlink_shared_memory()  # all have it now
            self._library = Library(module)
        except FailedPrecondition as error:
            self._error = error

    def library(self) -> Library:
        """Wait for it.  Raises: FailedPrecondition."""
        if self._thread is not None:
            self._thread.join()
        if self._environment is not None:
            self._environment.restore()
        if self._error is not None or self._library is None:
            raise self._error or FailedPrecondition("MPI has not started")
        return self._library


def _exchanged(keys: Mapping[str, str], size: int, exchange_keys: ExchangeKeys) -> dict[str, str]:
    """Keys and values of all ranks.  Raises: FailedPrecondition."""
    line = np.frombuffer((json.dumps(keys) + "\n").encode(), np.uint8)
    merged: dict[str, str] = {}
    for text in exchange_keys(Call(KEY_EXCHANGE, tuple(range(size))), line).tobytes().decode("ascii").splitlines():
        merged.update(json.loads(text))
    return merged
