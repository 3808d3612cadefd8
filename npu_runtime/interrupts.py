"""Signals wait while a step changes variables: Ctrl-C stops a step before it has changed any, or after it has ended.

Source: TensorFlow's session runs in C, where Python's handlers wait for the end of the whole step. Here a kernel is Python, and
an exception inside one would leave a variable half updated, its slots older than it, or a graph half compiled.
"""

from __future__ import annotations

import importlib
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

_signals: Any = importlib.import_module("_signal")
"""`signal` turns each handler into a member of an enumeration first, which takes longer than a small kernel."""
_NAMES = ("SIGINT", "SIGTERM", "SIGALRM", "SIGHUP", "SIGUSR1", "SIGUSR2")
_DEFERRED = tuple(int(getattr(signal, name)) for name in _NAMES if hasattr(signal, name))

Handler = Callable[[int, "FrameType | None"], Any]


class Interrupts:
    """Inside `with`, signals that have a handler in Python are noted; `deliver` calls the handlers, as does the end.

    pending: signals noted so far.  is_held: whether the step has begun to change variables and must be finished.
    Only the main thread receives signals; elsewhere nothing happens.
    """

    __slots__ = ("_handlers", "_is_open", "_outer", "is_held", "pending")

    def __init__(self) -> None:
        self._handlers: dict[int, Handler] = {}
        self._is_open = False
        self.pending: list[tuple[int, FrameType | None]] = []
        self.is_held = False

    def __enter__(self) -> Interrupts:
        self._outer = current()
        self._is_open = True
        try:
            _here.interrupts = self
            if threading.get_ident() == threading.main_thread().ident:
                self._take_over()
        except BaseException:  # from a handler that is still the script's own
            self.__exit__()
            raise
        return self

    def _take_over(self) -> None:
        for number in _DEFERRED:
            handler = _signals.getsignal(number)
            if callable(handler):
                self._handlers[number] = handler
                _signals.signal(number, self._note)

    def __exit__(self, *exception: object) -> None:
        _here.interrupts = self._outer
        try:
            for number, handler in reversed(self._handlers.items()):
                if _signals.getsignal(number) == self._note:  # a handler that ran here may have put another in its place
                    _signals.signal(number, handler)
        finally:
            self._is_open = self.is_held = False
        self.deliver()

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self._is_open:
            self.pending.append((number, frame))
        else:  # a handler of the script ended the exit half way
            self._handlers[number](number, frame)

    def deliver(self) -> None:
        """Call the handlers of what is pending, unless the step must be finished first.  Raises: what they raise."""
        while self.pending and not self.is_held:
            number, frame = self.pending.pop(0)
            self._handlers[number](number, frame)


_here = threading.local()


def current() -> Interrupts:
    """The innermost block of this thread; outside of all, one to which nothing is ever pending."""
    found: Interrupts | None = getattr(_here, "interrupts", None)
    return found or Interrupts()
