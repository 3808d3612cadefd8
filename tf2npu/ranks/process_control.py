"""Signals from above and exit codes from below, which a program that starts others passes on."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_ASK_TO_END = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def exit_code_of(returncode: int) -> int:
    """The exit code as a shell has it.  returncode: as subprocess has it, below 0 for a process that a signal has ended."""
    return returncode if returncode >= 0 else 128 - returncode


@contextmanager
def signals_to(hand_on: Callable[[int], None]) -> Iterator[None]:
    """Hand on what asks this process to end; what it was told to ignore, as by nohup, it ignores.

    hand_on: gets the number of the signal.
    """
    wanted = [number for number in _ASK_TO_END if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, lambda number, _: hand_on(number)) for number in wanted}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
