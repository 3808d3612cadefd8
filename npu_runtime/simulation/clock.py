"""The simulated clock: when each task of a step starts and ends.

A stream does its tasks one after another; a task also waits for those of other streams that it reads from.  Cube and vector units
of one core are not shared between streams in this model: a second stream of the AI cores would be as fast as the first.

Every turn of a loop takes the same time.  So a step records turns one by one up to MOST_RUNS, and what is left of a loop as one
run a task, which stands for all of them: a record is bounded, whatever loops do, and the times and sums are those of all turns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from npu_runtime.cost.runtime_ops import loop_turn_cost
from npu_runtime.simulation.compiled_model import CompiledModel, Launch
from npu_runtime.simulation.run_record import Iteration, TaskRun

MOST_RUNS = 20_000
"""Runs of a step's loops that are recorded one by one: those of 100 turns of an LSTM and its gradients, which take a few MB."""


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
    n_loops = sum(bool(launch.body) for launch in launches)
    free: dict[int, float] = {}
    runs: list[TaskRun] = []
    ends: list[float] = []
    for launch in launches:
        stream = launch.task.stream
        start = max([free.get(stream, begins), *(ends[position] for position in launch.waits)])
        end = start
        for run in _runs_of(launch, start, turns, _Room(MOST_RUNS // n_loops) if launch.body else _Room(1)):
            runs.append(run)
            end = run.end
        free[stream] = end
        ends.append(end)
    return runs, ends


@dataclass
class _Room:
    """left: runs of a loop that may still be recorded one by one."""

    left: int


def _runs_of(launch: Launch, start: float, turns: Mapping[str, int], room: _Room, count: int = 1) -> Iterator[TaskRun]:
    """The task, and for a loop its tasks as often as it turned.

    count: how often in a row, told as one run.  Of each loop the first turn is told by itself.
    """
    now = start + count * launch.task.cost.us
    room.left -= 1
    yield TaskRun(launch.task, start, now, count)
    left = count * turns.get(launch.task.name, 1) if launch.body else 0
    is_first = True
    while left:
        some = 1 if count == 1 and (is_first or room.left > 0) else left
        now += some * loop_turn_cost().us
        for inner in launch.body:
            for run in _runs_of(inner, now, turns, room, some):
                yield run
                now = run.end
        left -= some
        is_first = False
