"""Autotuning of short steps: on one thread or on all, and beside others or not; the first runs tell.

Waking a worker takes 10 to 80 us, and so does each change of the thread that has Python's lock, most on virtual machines: a step
of 200 us may take twice as long on two threads as on one, and no table of costs knows on which machine. So the first runs of a
program take its short steps both ways. What is computed is the same either way (see `kernels.threads.parallel`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from math import inf
from time import perf_counter
from typing import Any

from npu_runtime.autotune import Autotune
from npu_runtime.executor.program import HostStep, Task
from npu_runtime.kernels.threads.parallel import alone, n_sections, n_threads

Ready = Callable[[list[Any]], None]
Bound = list[tuple[Callable[..., Any], "Task | HostStep", Ready]]
"""Each step with its function, and the whole of it made ready for a run in which nothing is looked at."""

REPEATS = 3
"""Runs of each kind. The shortest time of them counts."""
LONGEST_ALONE = 3e-3
"""Seconds from which on a step surely gains from more threads, and is not tried on one."""
LONGEST_RUN = 0.1
"""Seconds of the longest run that is tried. In a longer one short steps hardly count, and trials do."""
WORTH_SHARING = 0.95
"""The share of its time that a step on all threads may still take to be worth it, as it takes processor time from others."""


@dataclass(frozen=True)
class Setting:
    """The setting of a run.  alone: positions of the steps that one thread runs.  is_beside: whether some run beside others."""

    alone: frozenset[int] = frozenset()
    is_beside: bool = True


@dataclass(frozen=True)
class Times:
    """Times of one run, in seconds.  steps: each step's.  device: all but the host's steps.  sharing: steps with work for
    others."""

    steps: list[float]
    device: float
    sharing: frozenset[int]


class Trials:
    """Trials of one program, which several threads may run."""

    def __init__(self, overlaps: bool) -> None:
        """overlaps: whether some steps may run beside others."""
        self._search = Autotune(_search(overlaps))

    @property
    def settled(self) -> Setting | None:
        """The best setting, once it was found; None before."""
        return self._search.found

    def run(self, bound: Bound, go: Callable[[Bound, bool], None]) -> bool:
        """Run the steps by `go`, which takes them and whether some run beside others.  Returns: whether that settled it."""
        setting = self._search.begin()
        if setting is None:
            go(bound, self.settled is None or self.settled.is_beside)
            return False
        try:
            return self._search.tell(_timed(bound, setting, go))
        finally:
            self._search.end()

    def apply(self, bound: Bound) -> None:
        """Make the steps ready as was found best, if it is known."""
        if self.settled is not None:
            bound[:] = _ready(bound, self.settled)


def _search(overlaps: bool) -> Generator[Setting, Times, Setting]:
    """Yields how the next run is to be made, is sent its times, and returns what was best."""
    yield Setting()  # memory is touched for the first time
    first = yield Setting(is_beside=False)
    if first.device > LONGEST_RUN:
        return Setting()
    short = frozenset(i for i in first.sharing if first.steps[i] < LONGEST_ALONE)
    together, apart = [], []
    for _ in range(REPEATS if short else 0):
        together.append((yield Setting(is_beside=False)))
        apart.append((yield Setting(short, is_beside=False)))
    chosen = frozenset(i for i in short if _shortest(together, i) > WORTH_SHARING * _shortest(apart, i))
    beside, behind = inf, inf
    for _ in range(REPEATS if overlaps and n_threads() > 1 else 0):
        beside = min(beside, (yield Setting(chosen)).device)
        behind = min(behind, (yield Setting(chosen, is_beside=False)).device)
    return Setting(chosen, beside <= behind)


def _shortest(runs: Iterable[Times], position: int) -> float:
    return min((run.steps[position] for run in runs), default=inf)


def _timed(bound: Bound, setting: Setting, go: Callable[[Bound, bool], None]) -> Times:
    """Run all steps once."""
    seconds, sharing = [0.0] * len(bound), set[int]()

    def watched(position: int, ready: Ready) -> Ready:
        def run(slots: list[Any]) -> None:
            before, start = n_sections(), perf_counter()
            ready(slots)
            seconds[position] = perf_counter() - start
            if n_sections() > before and isinstance(bound[position][1], Task):
                sharing.add(position)

        return run

    todo = [(function, step, watched(i, ready)) for i, (function, step, ready) in enumerate(_ready(bound, setting))]
    start = perf_counter()
    go(todo, setting.is_beside)
    whole = perf_counter() - start
    on_host = sum(seconds[i] for i, (_, step, _) in enumerate(bound) if isinstance(step, HostStep))
    return Times(seconds, whole - on_host, frozenset(sharing))


def _ready(bound: Bound, setting: Setting) -> Bound:
    return [(function, step, alone(ready) if i in setting.alone else ready) for i, (function, step, ready) in enumerate(bound)]
