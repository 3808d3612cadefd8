"""Writing beside the computing: a thread does what it is handed, in order, and what waits for it is bounded."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from threading import Condition, Thread

from npu_runtime.exit_handlers import at_process_end
from npu_runtime.log import tell_once

MOST_WAITING_BYTES = 256 << 20
"""Bytes that may wait to be written: more would be memory that the user's training does without."""


class Writer:
    """A thread that lives while there is something to write."""

    def __init__(self, most_waiting_bytes: int = MOST_WAITING_BYTES) -> None:
        self._most = most_waiting_bytes
        self.begin()

    def begin(self) -> None:
        """Begin without jobs and without a thread: a forked process has its parent's memory and none of its threads."""
        self._jobs: deque[tuple[Callable[[], None], int]] = deque()
        self._waiting_bytes = 0
        self._changed = Condition()
        self._works = self._is_registered = False

    def put(self, job: Callable[[], None], n_bytes: int) -> None:
        """Hand over a job that holds so many bytes; waits while too many wait already.  A job that raises is told."""
        with self._changed:
            while self._waiting_bytes and self._waiting_bytes + n_bytes > self._most:
                self._changed.wait()
            self._jobs.append((job, n_bytes))
            self._waiting_bytes += n_bytes
            if not self._works:
                self._works = True
                self._write_at_exit()
                Thread(target=self._work, name="dump writer", daemon=True).start()

    def _write_at_exit(self) -> None:
        if not self._is_registered:
            self._is_registered = True
            at_process_end(self.flush)

    def _work(self) -> None:
        while True:
            with self._changed:
                if not self._jobs:
                    self._works = False
                    self._changed.notify_all()
                    return
                job, n_bytes = self._jobs.popleft()
            try:
                job()
            except Exception as problem:  # whoever waits for this thread would wait for ever
                _tell_failure(problem)
            finally:
                del job
                with self._changed:
                    self._waiting_bytes -= n_bytes
                    self._changed.notify_all()

    def flush(self) -> None:
        """Wait until all is done."""
        with self._changed:
            while self._works:
                self._changed.wait()


def _tell_failure(problem: Exception) -> None:
    """Tell it in the run log, unless that is what cannot be written."""
    with suppress(OSError, ValueError):
        tell_once(f"Data dump: a file could not be made: {type(problem).__name__}: {problem}; it is left out")


WRITER = Writer()
"""The one of this process: what waits is bounded for all sessions together."""
os.register_at_fork(after_in_child=WRITER.begin)
