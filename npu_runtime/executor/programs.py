"""The programs that one request of a session was compiled to, one for each combination of shapes: those that were used last."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from threading import Lock

from npu_runtime.executor.run import Runner

Shapes = tuple[tuple[int, ...], ...]
MOST_STEPS = 200_000
"""Of all programs of a request together: a step takes some 6 KB, and sentences of every length would else fill the memory."""


class Programs:
    """Runners by the shapes of what is fed. Several threads may ask at once."""

    def __init__(self) -> None:
        self._runners: dict[Shapes, Runner] = {}
        self._last_use: dict[Shapes, int] = {}
        self._uses = count()
        self._lock = Lock()

    def get(self, shapes: Shapes) -> Runner | None:
        """The program for these, which is noted as used."""
        runner = self._runners.get(shapes)
        if runner is not None:
            self._last_use[shapes] = next(self._uses)
        return runner

    def add(self, shapes: Shapes, runner: Runner) -> int:
        """Keep one more.  Returns: how many of the others had to go; who runs one of them still has it."""
        with self._lock:
            self._runners[shapes] = runner
            self._last_use[shapes] = next(self._uses)
            gone = list(self._too_many(shapes))
            for other in gone:
                del self._runners[other]
                self._last_use.pop(other, None)
            return len(gone)

    def _too_many(self, kept: Shapes) -> Iterator[Shapes]:
        """Those used least lately, as long as there are too many steps."""
        n_steps = sum(len(runner.program.steps) for runner in self._runners.values())
        for shapes in sorted(self._runners, key=lambda shapes: self._last_use.get(shapes, 0)):
            if n_steps <= MOST_STEPS or shapes == kept:
                return
            n_steps -= len(self._runners[shapes].program.steps)
            yield shapes

    def values(self) -> tuple[Runner, ...]:
        """Those that are kept."""
        return tuple(self._runners.values())
