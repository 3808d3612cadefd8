"""The same step with other batches: what a graph with open placeholders takes, and how many examples fit into a chip."""

from __future__ import annotations

from collections.abc import Callable

from npu_formats.device.chip import Chip
from npu_runtime.errors import DeviceError
from npu_runtime.graph.ops import FEED
from npu_runtime.observers.prediction.chip_step import StepCompiler
from npu_runtime.observers.ran_step import RanStep
from npu_runtime.passes.fuse.recurrent_verdicts import shared_verdicts
from npu_runtime.simulation.device_compiler import Target

MOST_COMPILATIONS = 20
"""Compilations that the search for the largest batch may take, each as long as the first of the script."""
SECANTS = 8
"""Compilations whose batch is guessed from the two before: memory that grows in steps is halved from there on."""
NOT_THIS_BATCH = (DeviceError, ValueError, LookupError, ArithmeticError, MemoryError)
"""Errors of compiling where shapes do not fit together, such as behind a reshape to a fixed batch, or are too large for it."""
Shapes = list[tuple[int, ...]]


class OtherBatches:
    """compiler: of the step as it ran.  batch: examples that were fed, None if unknown."""

    def __init__(self, compiler: StepCompiler, batch: int | None) -> None:
        self.compiler, self.batch = compiler, batch
        self._compilers: dict[int, StepCompiler | None] = {batch or 0: compiler}

    def compiler_for(self, wanted: int, chip: Chip) -> StepCompiler | None:
        """Compiles a step of so many examples; None where the graph takes no such batch."""
        if wanted not in self._compilers:
            self._compilers[wanted] = self._compiled(wanted, chip)
        return self._compilers[wanted]

    def _compiled(self, wanted: int, chip: Chip) -> StepCompiler | None:
        if not self.batch or not _is_open(self.compiler.step, self.batch):
            return None
        made = self.compiler.for_shapes(self.shapes(wanted))
        try:
            is_known = _n_dynamic(made, chip) == _n_dynamic(self.compiler, chip)
        except NOT_THIS_BATCH:
            return None
        return made if is_known else None

    def shapes(self, wanted: int) -> Shapes:
        """The shapes of the feeds with a batch of so many examples."""
        given = self.compiler.step.shapes
        return [(wanted, *shape[1:]) if shape[:1] == (self.batch,) else shape for shape in given]

    def largest(self, chip: Chip) -> int | None:
        """The largest batch that fits, while the next one does not; None where the graph takes no other or none was found."""
        if not self.batch or self.compiler_for(2 * self.batch, chip) is None:
            return None
        step = self.compiler.step
        try:
            with shared_verdicts():
                return _search(
                    lambda n: step.variable_bytes + step.memory_for(self.shapes(n)).arena_bytes, chip.hbm_bytes, self.batch
                )
        except NOT_THIS_BATCH:
            return None


def _n_dynamic(compiler: StepCompiler, chip: Chip) -> int:
    """Tasks with shapes that are not known: more of them say that the graph has a fixed batch somewhere."""
    tasks = compiler.lowered(Target(chip, compiler.precision)).tasks
    return sum(any(op.is_dynamic for op in task.ops) for task in tasks)


def _is_open(step: RanStep, batch: int) -> bool:
    """Whether every placeholder that is fed a batch takes one of any size."""
    declared = [node.outputs[0].shape for node in step.graph if node.op == FEED]
    fed = [shape for shape, given in zip(declared, step.shapes, strict=True) if given[:1] == (batch,)]
    return bool(fed) and all(shape is None or not shape or shape[0] is None for shape in fed)


def _search(used: Callable[[int], int], limit: int, batch: int) -> int | None:
    """The secant through two batches hits closely, as memory grows nearly in proportion to the batch."""
    known = {n: used(n) for n in (batch, 2 * batch)}
    while len(known) < MOST_COMPILATIONS:
        fits = max((n for n, size in known.items() if size <= limit), default=0)
        too_large = min((n for n, size in known.items() if size > limit and n > fits), default=0)
        if too_large == fits + 1:
            return fits or None
        guess = _secant(known, limit) if len(known) < SECANTS or not too_large else (fits + too_large) // 2
        guess = max(guess, fits + 1)
        guess = min(guess, too_large - 1) if too_large else guess
        known[guess] = used(guess)
    return None


def _secant(known: dict[int, int], limit: int) -> int:
    (n, size), (m, more) = sorted(known.items(), key=lambda item: abs(item[1] - limit))[:2]
    slope = (more - size) / (m - n)
    return int(n + (limit - size) / slope) if slope > 0 else 2 * max(known)
