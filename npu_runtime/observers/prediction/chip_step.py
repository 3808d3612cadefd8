"""One training step on one chip: compiled for it, and run on its clock."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from npu_formats.device.chip import Chip
from npu_runtime.cost.fitted import load_fitted
from npu_runtime.lowering.lower import LoweredTask
from npu_runtime.observers.ran_step import RanStep
from npu_runtime.simulation.compiled_model import CompiledModel, Launch, compile_model
from npu_runtime.simulation.cost_of_task import Ranks
from npu_runtime.simulation.device import Issue, SimulatedDevice
from npu_runtime.simulation.device_compiler import Lowered, Target, lower_for
from npu_runtime.simulation.run_record import DeviceTask, Iteration

_STEPS = 2
"""Steps that are run on the clock: the time of a step is from the end of the first to the end of the second."""


@dataclass(frozen=True)
class ChipStep:
    """us: microseconds from one step to the next.  mode: precision.  batch: examples of a step, None if unknown.
    sunk: steps that one issue of the host makes.
    """

    chip: Chip
    mode: str
    batch: int | None
    model: CompiledModel
    iteration: Iteration
    us: float
    sunk: int


class StepCompiler:
    """Compiles one step for several targets; chips of a family share what is lowered."""

    def __init__(self, step: RanStep, ranks: Ranks, iterations_per_loop: int, precision: str) -> None:
        self.step, self.ranks, self.precision = step, ranks, precision
        self.iterations_per_loop = iterations_per_loop or step.loop_steps
        self._lowered: dict[tuple[bool, bool, str], Lowered] = {}
        self._source_of = cache(step.source_of)
        self._made: dict[tuple[str, str, int], ChipStep] = {}

    def for_shapes(self, shapes: Sequence[tuple[int, ...]]) -> StepCompiler:
        """The same step with other shapes fed."""
        return self.for_step(replace(self.step, shapes=shapes))

    def for_step(self, step: RanStep) -> StepCompiler:
        """Another step, compiled as this one."""
        return StepCompiler(step, self.ranks, self.iterations_per_loop, self.precision)

    def for_ranks(self, ranks: Ranks) -> StepCompiler:
        """The same step of so many ranks, whose tasks are the same."""
        made = StepCompiler(self.step, ranks, self.iterations_per_loop, self.precision)
        made._lowered = self._lowered
        return made

    def lowered(self, target: Target) -> Lowered:
        """The tasks on a target."""
        family = target.chip.is_split, target.chip.has_bfloat16
        key = *family, target.mode
        if key not in self._lowered:
            step = self.step
            made = lower_for(step.graph, step.shapes, step.placement, step.config, target)
            self._lowered[key] = self._lowered.setdefault((*family, made.mode), made)
        return self._lowered[key]

    def run(self, target: Target, iterations_per_loop: int | None = None) -> ChipStep:
        """A step of many: of a sunk loop each has its part of the one issue."""
        lowered = self.lowered(target)
        sunk = max(1, self.iterations_per_loop if iterations_per_loop is None else iterations_per_loop)
        key = target.chip.name, lowered.mode, sunk
        if key not in self._made:
            model = compile_model(
                self.step.name, lowered.tasks, target.chip, self.ranks, self._source_of, lowered.input_bytes,
                self.step.choose,
            )  # fmt: skip
            iteration, us = self._on_clock(model, target.chip, sunk)
            self._made[key] = ChipStep(target.chip, lowered.mode, lowered.batch, model, iteration, us, sunk)
        return self._made[key]

    def us_with(self, made: ChipStep, times: Mapping[int, float], *, copies_inputs: bool = True) -> float:
        """Microseconds of a step whose tasks take other times.

        times: microseconds by `id` of a task.  copies_inputs: whether the batch is copied before the step, where it was.
        """
        model = replace(made.model, launches=_timed(made.model.launches, times))
        return self._on_clock(model, made.chip, made.sunk, copies_inputs)[1]

    def _on_clock(self, model: CompiledModel, chip: Chip, sunk: int, copies_inputs: bool = True) -> tuple[Iteration, float]:
        takes_copies = copies_inputs and sunk <= 1 and not self.step.takes_from_queue
        issue = Issue(is_issued=True, copies_inputs=takes_copies)
        device = SimulatedDevice(chip)
        loaded = device.load(model)
        made = [device.step(loaded, model, issue, self.step.turns) for _ in range(_STEPS)][-1]
        return made, made.end - made.start - load_fitted().issue_us * (1.0 - 1.0 / sunk)

    def pairs(self, made: ChipStep) -> Iterator[tuple[DeviceTask, LoweredTask]]:
        """Each task of a step with what it was lowered from, the bodies of loops included."""
        return _pairs(made.model.launches, self.lowered(Target(made.chip, made.mode)).tasks)


def _timed(launches: Sequence[Launch], times: Mapping[int, float]) -> tuple[Launch, ...]:
    """The launches with other times; tasks that keep theirs stay the same objects."""
    return tuple(_with_time(launch, times) for launch in launches)


def _with_time(launch: Launch, times: Mapping[int, float]) -> Launch:
    body = _timed(launch.body, times) if launch.body else ()
    us = times.get(id(launch.task), launch.task.cost.us)
    task = launch.task if us == launch.task.cost.us else replace(launch.task, cost=replace(launch.task.cost, us=us))
    return launch if task is launch.task and not body else replace(launch, task=task, body=body)


def _pairs(launches: Sequence[Launch], tasks: Sequence[LoweredTask]) -> Iterator[tuple[DeviceTask, LoweredTask]]:
    for launch, task in zip(launches, tasks, strict=True):
        yield launch.task, task
        yield from _pairs(launch.body, task.body)
