"""Steps under way, and variables that wait for them: what the graph has grown by may need a variable on the host.

Such a variable takes its value along. A step that other threads have begun keeps the variable of the device that it was compiled
with, so the value goes over when the last of these steps has ended; steps that were not begun by then wait, unless they use
other variables only. TensorFlow has one buffer and need not move anything.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping

from npu_runtime.errors import DeadlineExceeded, FailedPrecondition
from npu_runtime.executor.watch import current as current_watch
from npu_runtime.graph.ops import Key
from npu_runtime.interrupts import current as current_interrupts

LOOK_SECONDS = 1e-3
"""Seconds between two looks at whether the steps have ended; none of them tells, as nobody waits in nearly all runs."""
MOST_SECONDS = 600.0
"""Seconds after which a step that is waited for is taken to wait for something that only comes behind it."""
MOST_SECONDS_INSIDE = 1.0
"""Seconds of the same on a thread of TensorFlow's: what runs there is part of a host call, and most likely of the step that it
waits for."""


class ActiveSteps:
    """The variables that each step under way uses, on either side, and those that have a place on the host and not yet moved.

    All but `end` and `wait` is called by one thread at a time.
    """

    def __init__(self) -> None:
        self._running: list[frozenset[Key]] = []
        self._moving: dict[Key, Callable[[], None]] = {}

    def move(self, moves: Mapping[Key, Callable[[], None]]) -> None:
        """Each variable goes to the host, by the call, as soon as the steps under way have ended that use it."""
        self._moving.update(moves)

    def begin(self, variables: frozenset[Key]) -> bool:
        """Note a step that begins; False, and nothing noted, when it has to wait until a variable has moved."""
        if self._moving:
            running: frozenset[Key] = frozenset().union(*tuple(self._running))
            for key in sorted(self._moving.keys() - running):
                self._moving[key]()
                del self._moving[key]
            if not variables.isdisjoint(self._moving):
                return False
        self._running.append(variables)
        return True

    def end(self, variables: frozenset[Key]) -> None:
        """A step has ended, on any thread: a list does this at one go."""
        self._running.remove(variables)

    def wait(self, since_seconds: float) -> None:
        """A moment, before `begin` is asked again.

        since_seconds: when the waiting began, by time.monotonic.
        Raises: DeadlineExceeded when it takes too long, or longer than the run may; FailedPrecondition when it is nested in the
        step that it waits for; what handlers of signals raise.
        """
        waited, names = time.monotonic() - since_seconds, ", ".join(sorted(name for _, name in self._moving))
        if waited > MOST_SECONDS_INSIDE and isinstance(threading.current_thread(), threading._DummyThread):
            raise FailedPrecondition(
                f"the graph has grown by operations that need {names} on the host, and a step that uses it on the device waits "
                "for the Python function that runs them; run each of them once before that step"
            )
        if waited > MOST_SECONDS:
            raise DeadlineExceeded(
                f"the graph has grown by operations that need {names} on the host, and a step of another thread has used it on "
                f"the device for {MOST_SECONDS:g} s; run each operation once before threads share the session"
            )
        current_interrupts().deliver()
        watch = current_watch()
        if watch is not None:
            watch.check()
        time.sleep(LOOK_SECONDS)
