"""Ends a script as `sys.exit(0)` in its main thread would: `finally` and `with` blocks run, and the exit code is 0."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import NoReturn

_SIGNAL = int(getattr(signal, "SIGRTMIN", signal.SIGTERM))
"""The signal that a thread which runs steps sends to the main thread. Real-time signals are free for programs, and libraries do
not use the first one; without a handler of ours SIGTERM ends the process too."""


def listen() -> None:
    """Let `stop` reach the main thread, if this is it: only the main thread may say who handles a signal."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(_SIGNAL, _end)


def stop(*, is_first: bool) -> NoReturn:
    """End the script.  is_first: whether the main thread is told; once is enough, as its blocks are to end in peace.

    Raises: SystemExit, always, and no class of our own: `threading` ends a thread in silence for this one alone.
    """
    main = threading.main_thread()
    if is_first and threading.current_thread() is not main and main.ident is not None:
        signal.pthread_kill(main.ident, _SIGNAL if callable(signal.getsignal(_SIGNAL)) else signal.SIGINT)
    raise SystemExit(0)


def _end(number: int, frame: FrameType | None) -> None:
    raise SystemExit(0)
