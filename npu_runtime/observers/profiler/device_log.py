"""The one list of what a device did that every profiling file is written from: tasks with stream and task numbers, in ticks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from npu_formats.device.chip import Chip, load_chip
from npu_runtime.observers.profiler.clocks import ticks
from npu_runtime.observers.profiler.step_points import StepPoints
from npu_runtime.simulation.clock import MOST_RUNS
from npu_runtime.simulation.device import MOST_KEPT
from npu_runtime.simulation.run_record import DeviceRun, DeviceTask, Iteration, ModelRun

N_STREAMS = 2048
"""Streams that the device numbers; the vendor's parser keeps the low bits of a larger one."""
N_TASK_IDS = 65536
"""Task numbers of a stream: records have two bytes for them."""


@dataclass(frozen=True, slots=True)
class NumberedTask:
    """A task of a loaded model under the numbers that it has in all files. No other task has the same stream and task_id."""

    task: DeviceTask
    model_id: int
    stream: int
    task_id: int

    @property
    def is_kernel(self) -> bool:
        """Whether a core runs it: copies and collectives have no kernel of the operator library."""
        return not self.is_collective and self.task.task_type != "MEMCPY_ASYNC"

    @property
    def is_collective(self) -> bool:
        """Whether ranks compute it together."""
        return self.task.task_type == "COMMUNICATION"

    @property
    def has_counters(self) -> bool:
        """Whether the AI cores count its cycles."""
        return self.is_kernel and self.task.task_type != "AI_CPU" and self.task.cost.n_blocks > 0


@dataclass(frozen=True, slots=True)
class LoggedTask:
    """One execution of a task.  start, end: ticks.  iteration: number within the model."""

    numbered: NumberedTask
    iteration: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class LoggedStep:
    """An iteration of a model, in ticks.  start: end of the one before.  fp, bp: None for a model without them.  bound: ticks
    from the end of the latest iteration of any model before fp to fp, None where there is none.
    """

    model_id: int
    number: int
    start: int
    end: int
    fp: int | None
    bp: int | None
    bound: int | None
    get_next: tuple[int, int] | None
    reduces: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class LoggedModel:
    """A loaded model and its numbered tasks, in the order of the record."""

    run: ModelRun
    tasks: tuple[NumberedTask, ...]


@dataclass(frozen=True)
class DeviceLog:
    """tasks: by start.  steps: by end.  warnings: what could not be told exactly, a sentence each."""

    run: DeviceRun
    chip: Chip
    models: tuple[LoggedModel, ...]
    tasks: tuple[LoggedTask, ...]
    steps: tuple[LoggedStep, ...]
    warnings: tuple[str, ...] = ()


def log_device(run: DeviceRun, points: StepPoints) -> DeviceLog:
    """The list of a device's run.  points: which tasks begin the forward and end the backward pass."""
    models, warnings = _number(run)
    warnings += tuple(_left_out(run))
    logged = [entry for model in models for entry in _executions(model)]
    logged.sort(key=lambda entry: (entry.start, entry.end, entry.numbered.stream, entry.numbered.task_id))
    steps = [_step(model.run, iteration, points) for model in models for iteration in model.run.iterations
             if iteration.is_kept]  # fmt: skip
    steps.sort(key=lambda step: (step.end, step.model_id, step.number))
    return DeviceLog(run, load_chip(run.soc), models, tuple(logged), tuple(with_bounds(steps)), warnings)


def _left_out(run: DeviceRun) -> Iterator[str]:
    """A sentence each on turns of loops and on steps that the record does not have one by one."""
    kept = [(model.name, one) for model in run.models for one in model.iterations if one.is_kept]
    for name in sorted({name for name, one in kept if any(task.count > 1 for task in one.runs)}):
        yield (
            f"Profiling: the loops of {name} turn so often that a step has over {MOST_RUNS} tasks: the profile has their first "
            "turns, and the times of steps are those of all."
        )
    n_steps = sum(len(model.iterations) for model in run.models)
    if len(kept) < n_steps:
        yield (
            f"Profiling: the profile has the latest {len(kept)} of {n_steps} steps, as all have more than {MOST_KEPT} tasks: "
            "profile fewer steps to have each."
        )


def _number(run: DeviceRun) -> tuple[tuple[LoggedModel, ...], tuple[str, ...]]:
    """Every model gets streams of its own, as on the device. When they run out, streams serve again under new task numbers."""
    models, warnings = [], []
    first_stream = first_task = highest = 0
    for model in run.models:
        n_streams = 1 + max((task.stream for task in model.tasks), default=0)
        if first_stream + n_streams > N_STREAMS:
            first_stream, first_task = 0, highest + 1
        numbered = tuple(
            NumberedTask(task, model.model_id, first_stream + task.stream, first_task + task.task_id) for task in model.tasks
        )
        highest = max([highest, *(entry.task_id for entry in numbered)])
        first_stream += n_streams
        models.append(LoggedModel(model, numbered))
    if highest >= N_TASK_IDS:
        warnings.append(
            f"Profiling: {highest + 1} task numbers of a stream are more than the {N_TASK_IDS} that raw records hold; the raw "
            "part joins some tasks wrongly, the exported files are right. Profile fewer graphs at a time."
        )
    return tuple(models), tuple(warnings)


def _executions(model: LoggedModel) -> Iterator[LoggedTask]:
    numbered = {entry.task.task_id: entry for entry in model.tasks}
    for iteration in model.run.iterations:
        for run in (run for run in iteration.runs if run.count == 1):
            yield LoggedTask(numbered[run.task.task_id], iteration.number, ticks(run.start), ticks(run.end))


def _step(model: ModelRun, iteration: Iteration, points: StepPoints) -> LoggedStep:
    """A step in ticks, at least one long: the vendor's parser gives up all steps over an empty one."""
    fp, bp = points.of(model, iteration)
    begin, end = ticks(iteration.start), ticks(iteration.end)
    if fp is not None and iteration is model.iterations[0]:
        begin = ticks(fp)
    get_next = iteration.get_next and (ticks(iteration.get_next[0]), ticks(iteration.get_next[1]))
    return LoggedStep(
        model_id=model.model_id,
        number=iteration.number,
        start=begin,
        end=max(end, begin + 1),
        fp=None if fp is None else ticks(fp),
        bp=None if bp is None else ticks(bp),
        bound=None,
        get_next=get_next,
        reduces=tuple((ticks(start), ticks(end)) for start, end in iteration.reduces),
    )


def with_bounds(steps: Sequence[LoggedStep]) -> Iterator[LoggedStep]:
    """Each step with the tail of its data augmentation: t(N+1)1 - tN6 of the textbook's figure 5-21.

    Where models take turns, tN6 is the end of whichever ended last before the forward pass, as the vendor's parser has it.
    """
    for at, step in enumerate(steps):
        fp = step.fp
        before = None if fp is None else next((other.end for other in reversed(steps[:at]) if other.end <= fp), None)
        yield replace(step, bound=None if fp is None or before is None else fp - before)
