"""Steps that a dump was asked for and that never came: said when the process ends, for who waits finds an empty folder."""

from __future__ import annotations

import os
from threading import Lock

from npu_runtime.exit_handlers import at_process_end
from npu_runtime.log import tell_once

Steps = tuple[tuple[int, int], ...]
"""First and last step of each range."""


class UnreachedSteps:
    """Unreached steps of all sessions of a process: a training and its evaluation ask for the same steps, and one may be
    short."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Begin as if nothing had run: a forked process has steps of its own."""
        self._is_registered = False
        self._lock = Lock()
        self._longest: dict[Steps, int] = {}
        self._has_reached = False

    def passed(self, wanted: Steps, n_steps: int) -> None:
        """A step was not wanted; n_steps: that its graph has run with it."""
        with self._lock:
            if not self._is_registered:
                self._is_registered = True
                at_process_end(self.tell)
            self._longest[wanted] = max(n_steps, self._longest.get(wanted, 0))

    def reached(self) -> None:
        """A step was wanted: there is a dump, or a line that says why there is none."""
        self._has_reached = True

    def tell(self) -> None:
        """Say what never came, if nothing at all was dumped."""
        if self._has_reached:
            return
        for wanted, n_steps in self._longest.items():
            text = "|".join(str(first) if first == last else f"{first}-{last}" for first, last in wanted)
            ran = f"{n_steps} step{'s' * (n_steps != 1)}, which are counted from 0"
            tell_once(f"Data dump: nothing was dumped: dump_step is {text}, and no graph ran more than {ran}")


UNREACHED = UnreachedSteps()
"""The one of this process."""
os.register_at_fork(after_in_child=UNREACHED.begin)
