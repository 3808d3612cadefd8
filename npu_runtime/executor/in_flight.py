"""Steps under way, and variables that wait for them: what the graph has grown by may need a variable on the host.

Such a variable takes its value along. A step that other threads have begun keeps the variable of the device that it was compiled
with, so the value goes over when the last of these steps has ended; steps that were not begun by then wait, unless they use
other variables only. TensorFlow has one buffer and need not move anything.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from npu_runtime.errors import DeadlineExceeded
from npu_runtime.executor.watch import current as current_watch
from npu_runtime.interrupts import current as current_interrupts
from npu_runtime.passes.placement import Key

LOOK_SECONDS = 1e-3
"""Between two looks at whether the steps have ended; none of them tells, as nobody waits in nearly all runs."""
MOST_SECONDS = 600.0
"""After which a step that is waited for is taken to wait for something that only comes behind it."""


class InFlight:
    """The variables that each step under way uses, on either side.

    move(key): called when no step uses the variable any more. All but `end` and `wait` is called by one thread at a time.
    """

    def __init__(self, move: Callable[[Key], None]) -> None:
        self._move = move
        self._running: list[frozenset[Key]] = []
        self._moving: set[Key] = set()

    def move(self, keys: Iterable[Key]) -> None:
        """These variables go to the host as soon as the steps under way have ended that use them."""
        self._moving.update(keys)

    def begin(self, variables: frozenset[Key]) -> bool:
        """Note a step that begins; False, and nothing noted, when it has to wait until a variable has moved."""
        if self._moving:
            running: frozenset[Key] = frozenset().union(*tuple(self._running))
            for key in sorted(self._moving - running):
                self._move(key)
                self._moving.discard(key)
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
        Raises: DeadlineExceeded when it takes too long, or longer than the run may; what handlers of signals raise.
        """
        if time.monotonic() - since_seconds > MOST_SECONDS:
            names = ", ".join(sorted(name for _, name in self._moving))
            raise DeadlineExceeded(
                f"the graph has grown by operations that need {names} on the host, and a step of another thread has used it on "
                f"the device for {MOST_SECONDS:g} s; run each operation once before threads share the session"
            )
        current_interrupts().deliver()
        watch = current_watch()
        if watch is not None:
            watch.check()
        time.sleep(LOOK_SECONDS)
