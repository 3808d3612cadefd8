"""The programs that one request of a session was compiled to, one for each combination of shapes: those that were used last."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Lock

from npu_runtime.executor.run import Runner

Shapes = tuple[tuple[int, ...], ...]
MOST_STEPS = 200_000
"""Of all programs of a request together: a step takes some 6 KB, and sentences of every length would else fill the memory."""


class Programs:
    """Runners by the shapes of what is fed, in the order of their last use. Several threads may ask at once."""

    def __init__(self) -> None:
        self._runners: dict[Shapes, Runner] = {}
        self._lock = Lock()

    def get(self, shapes: Shapes) -> Runner | None:
        """The program for these, which is the one used last then."""
        with self._lock:
            runner = self._runners.pop(shapes, None)
            if runner is not None:
                self._runners[shapes] = runner
            return runner

    def add(self, shapes: Shapes, runner: Runner) -> int:
        """Keep one more.  Returns: how many of the others had to go; who runs one of them still has it."""
        with self._lock:
            self._runners[shapes] = runner
            gone = list(self._too_many())
            for other in gone:
                del self._runners[other]
            return len(gone)

    def _too_many(self) -> Iterator[Shapes]:
        """Those used least lately, as long as there are too many steps; never the last one."""
        n_steps = sum(len(runner.program.steps) for runner in self._runners.values())
        for shapes in list(self._runners)[:-1]:
            if n_steps <= MOST_STEPS:
                return
            n_steps -= len(self._runners[shapes].program.steps)
            yield shapes

    def values(self) -> tuple[Runner, ...]:
        """Those that are kept."""
        return tuple(self._runners.values())
