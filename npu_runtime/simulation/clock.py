"""The simulated clock: when each task of a step starts and ends.

A stream does its tasks one after another; a task also waits for those of other streams that it reads from.  Cube and vector units
of one core are not shared between streams in this model: a second stream of the AI cores would be as fast as the first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from npu_runtime.cost.runtime_ops import loop_turn_cost
from npu_runtime.simulation.compiled_model import CompiledModel, Launch
from npu_runtime.simulation.run_record import Iteration, TaskRun


def run_step(
    model: CompiledModel, number: int, issued: tuple[float, float], begins: float, before: float | None,
    turns: Mapping[str, int] | None = None, get_next: tuple[float, float] | None = None,
) -> Iteration:  # fmt: skip
    """One step.

    number: of the step, from 1.  issued: microseconds when the host began and ended to issue it.  begins: when its first task can
    start.  before: when the step before ended, None for the first one.  turns: of loops, by name of the task.  get_next: when the
    batch was taken.
    """
    runs, ends = _run(model.launches, begins, turns or {})
    end = max(ends, default=begins)
    spans = [next(run for run in runs if run.task is model.launches[p].task) for p in model.collectives]
    fp = _start_of(runs, model, model.fp)
    bp = None if model.bp is None else ends[model.bp]
    start = before if before is not None else (fp if fp is not None else begins)
    return Iteration(number, start, end, runs, issued, fp, bp, get_next, tuple((run.start, run.end) for run in spans))


def _start_of(runs: Sequence[TaskRun], model: CompiledModel, position: int | None) -> float | None:
    if position is None:
        return None
    task = model.launches[position].task
    return next(run.start for run in runs if run.task is task)


def _run(launches: Sequence[Launch], begins: float, turns: Mapping[str, int]) -> tuple[list[TaskRun], list[float]]:
    """All runs, and the end of each launch."""
    free: dict[int, float] = {}
    runs: list[TaskRun] = []
    ends: list[float] = []
    for launch in launches:
        stream = launch.task.stream
        start = max([free.get(stream, begins), *(ends[position] for position in launch.waits)])
        end = start
        for run in _runs_of(launch, start, turns):
            runs.append(run)
            end = run.end
        free[stream] = end
        ends.append(end)
    return runs, ends


def _runs_of(launch: Launch, start: float, turns: Mapping[str, int]) -> Iterator[TaskRun]:
    """The task, and for a loop its tasks as often as it turned."""
    yield TaskRun(launch.task, start, start + launch.task.cost.us)
    now = start + launch.task.cost.us
    for _ in range(turns.get(launch.task.name, 1) if launch.body else 0):
        now += loop_turn_cost().us
        for inner in launch.body:
            for run in _runs_of(inner, now, turns):
                yield run
                now = run.end
