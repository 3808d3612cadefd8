"""Calls that are carried out one after another beside the script, as a stream of the device does.

A thread that comes back from C++ while Python ends is ended by Python, and the process with it: C++ has no answer to that. So
threads work inside of a gate, which closes for good when the process is about to end, and wait outside of it.
"""

from __future__ import annotations

import atexit
import os
import time
import weakref
from collections.abc import Callable
from queue import SimpleQueue
from threading import Event, Lock, Thread

SETTLE_SECONDS = 0.02
"""Seconds for Gloo's own threads to let go of tensors, whose memory Python frees, after the last operation."""

_gate = Lock()


def _close() -> None:
    _gate.acquire()
    if Lane.made:
        time.sleep(SETTLE_SECONDS)


def _after_fork() -> None:
    """A forked process has no lanes, and nobody who would open a gate that one was in."""
    global _gate
    _gate = Lock()
    Lane.made = 0


atexit.register(_close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class Outside:
    """A block in which a lane waits."""

    def __enter__(self) -> None:
        _gate.release()

    def __exit__(self, *error: object) -> None:
        _gate.acquire()


def sleep_outside(seconds: float) -> None:
    """Have a lane wait for a while."""
    with Outside():
        time.sleep(seconds)


class Outcome:
    """The end of a call, once it comes.  error: raised by it, None for nothing or as long as it runs."""

    def __init__(self) -> None:
        self._ended = Event()
        self.error: BaseException | None = None

    @property
    def has_ended(self) -> bool:
        return self._ended.is_set()

    def end(self, error: BaseException | None) -> None:
        """Say that the call has ended."""
        self.error = error
        self._ended.set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the call, None for as long as it takes; whether it has ended.  Raises: what the call raised."""
        if not self._ended.wait(seconds):
            return False
        if self.error is not None:
            raise self.error.with_traceback(None)  # of this thread, which says where the script waits
        return True


_Calls = SimpleQueue[tuple[Callable[[], None], Outcome] | None]


class Lane:
    """A thread that carries out calls in the order in which they came.  It ends with this object, or with the process."""

    made = 0

    def __init__(self, name: str) -> None:
        Lane.made += 1
        self._calls: _Calls = SimpleQueue()
        Thread(target=_carry_out, args=(self._calls,), name=name, daemon=True).start()
        self.close = weakref.finalize(self, self._calls.put, None)

    def submit(self, call: Callable[[], None]) -> Outcome:
        """Have something called when all that came before has ended."""
        outcome = Outcome()
        self._calls.put((call, outcome))
        return outcome


def _carry_out(calls: _Calls) -> None:
    while (given := calls.get()) is not None:
        with _gate:
            _carry_out_one(*given)
            given = None  # what it holds is freed inside, too


def _carry_out_one(call: Callable[[], None], outcome: Outcome) -> None:
    try:
        call()
    except BaseException as error:  # it belongs to whoever waits
        outcome.end(error)
    else:
        outcome.end(None)
