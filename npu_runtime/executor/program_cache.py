"""The programs that one request of a session was compiled to: for the shapes met first, for shapes that come again, and for any.

A program for exact shapes is the fastest (its memory is planned, its shapes' arithmetic folded), but compiling takes as long as
some steps: sentences of every length, or labels of ever other counts, would be compiled for all the time. So shapes that are met
after the first few run by a program that leaves open every extent that has varied, until they have come often enough to repay
one of their own. What runs depends on the shapes alone and on their order, never on times.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from threading import Lock

from npu_runtime.executor.program import Program
from npu_runtime.executor.run import Runner
from npu_runtime.kernels.shapes import common

Shapes = tuple[tuple[int, ...], ...]
Extents = tuple[tuple[int | None, ...], ...]
"""Shapes in which None stands for any extent."""
MOST_STEPS = 200_000
"""Steps of all programs of a request together, some 6 KB each: sentences of every length would else fill the memory."""
FEW_SHAPES = 3
"""Combinations of shapes that get programs of their own at once: those of whole and last batches, in training and evaluation."""
REPAYS_COMPILING = 32
"""The most steps of a shape after which it gets a program too. Fewer do where they take long beside compiling."""
COMPILING_SECONDS, STEP_SECONDS, FLOPS_PER_SECOND = 2.3e-4, 1e-5, 1e11
"""Seconds that compiling takes for a step of a program, seconds that running it takes beside its arithmetic, and operations a
second. About, on the machine of docs/benchmarks.md."""
SAVED = 0.15
"""The share of a step's time that a program of exact shapes saves."""
LARGER = 1.25
"""A feed of so many times the elements of any before gets a program of exact shapes: only then the step's memory is known, and
refused if it is more than the chip has."""
MOST_SHAPES = 100_000
"""Combinations of shapes whose steps are counted, at some 200 bytes each."""


class ProgramCache:
    """Runners by the shapes of what is fed, in the order of their last use. Several threads may ask at once."""

    def __init__(self, on_new: Callable[[Shapes], None] = lambda shapes: None) -> None:
        """on_new: is told of each combination of shapes when it is met first."""
        self._on_new = on_new
        self.n_shapes = 0
        """Combinations of shapes met so far; a device compiles for each."""
        self._runners: dict[Extents, Runner] = {}
        self._n_steps: dict[Shapes, int] = {}
        self._common: Extents | None = None
        self._largest: tuple[int, ...] = ()
        self._repays = REPAYS_COMPILING
        self._lock = Lock()

    def get(self, shapes: Shapes) -> Runner | None:
        """The program to run these by, which is the one used last then; None where one must be compiled for `wanted`."""
        with self._lock:
            exact = self._use(shapes)
            if exact is not None:
                return exact
            self._count(shapes)
            return self._use(self._wanted(shapes))

    def wanted(self, shapes: Shapes) -> Extents:
        """The extents to compile for: these shapes themselves, or with None for extents that have varied."""
        with self._lock:
            return self._wanted(shapes)

    def compiled(self, extents: Extents) -> Runner | None:
        """The program that was compiled for exactly these; another thread may have been sooner."""
        with self._lock:
            return self._use(extents)

    def add(self, extents: Extents, runner: Runner) -> int:
        """Keep one more, compiled for these.  Returns: how many of the others had to go; who runs one of them still has it."""
        with self._lock:
            if is_open(extents):  # the one before it left less open
                self._runners.pop(next(filter(is_open, self._runners), extents), None)
            else:
                sizes = tuple(math.prod(extent or 0 for extent in shape) for shape in extents)
                self._largest = tuple(map(max, sizes, self._largest or sizes))
                self._repays = _repays_compiling(runner.program)
            self._common = _common(self._common or extents, extents) or self._common
            self._runners[extents] = runner
            gone = list(self._too_many())
            for other in gone:
                del self._runners[other]
            return len(gone)

    def values(self) -> tuple[Runner, ...]:
        """The runners that are kept."""
        return tuple(self._runners.values())

    def _use(self, extents: Extents) -> Runner | None:
        runner = self._runners.pop(extents, None)
        if runner is not None:
            self._runners[extents] = runner
        return runner

    def _count(self, shapes: Shapes) -> None:
        times = self._n_steps.pop(shapes, 0)
        if times == 0:
            self.n_shapes += 1
            self._on_new(shapes)
        self._n_steps[shapes] = times + 1
        if len(self._n_steps) > MOST_SHAPES:
            del self._n_steps[next(iter(self._n_steps))]

    def _wanted(self, shapes: Shapes) -> Extents:
        extents = _common(self._common, shapes) if self._common is not None and self.n_shapes > FEW_SHAPES else None
        if extents is None or not is_open(extents) or self._n_steps.get(shapes, 0) > self._repays:
            return shapes
        is_larger = any(math.prod(shape) > LARGER * most for shape, most in zip(shapes, self._largest, strict=True))
        return shapes if is_larger else extents

    def _too_many(self) -> Iterator[Extents]:
        """The programs used least lately, as long as there are too many steps; never the last one."""
        n_steps = sum(len(runner.program.steps) for runner in self._runners.values())
        for extents in list(self._runners)[:-1]:
            if n_steps <= MOST_STEPS:
                return
            n_steps -= len(self._runners[extents].program.steps)
            yield extents


def _repays_compiling(program: Program) -> int:
    """Steps after which a program like this has saved what compiling it takes."""
    running = STEP_SECONDS * len(program.steps) + program.device_flops / FLOPS_PER_SECOND
    return min(REPAYS_COMPILING, int(COMPILING_SECONDS * len(program.steps) / (SAVED * max(running, STEP_SECONDS))))


def is_open(extents: Extents) -> bool:
    """Whether some extent may be any."""
    return any(None in shape for shape in extents)


def _common(a: Extents, b: Extents) -> Extents | None:
    """The extents of both, with None for those that differ; None where a tensor's rank differs."""
    found = tuple(common(x, y) for x, y in zip(a, b, strict=True))
    return None if None in found else tuple(shape for shape in found if shape is not None)
