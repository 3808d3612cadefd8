"""The parts of a step's time, by one rule for what is predicted and what is measured: every moment counts once.

A task of the AI cores is launched, and then waits for its busiest pipe. Beside the cores, a task counts where none of them works.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from npu_formats.intervals import union

_CORES = ("cube", "vector")
"""Engines that are units of the AI cores, and pipes of the same name that compute."""
_BESIDE = {"AI CPU": "ai_cpu", "runtime": "launch", "copy": "host", "HCCL": "waiting"}
"""The part of each further engine, in the order in which they are counted: a later one where no earlier one works."""


@dataclass(frozen=True)
class TimedTask:
    """A task as it ran.  start, end: microseconds.  engine: as a document names it.  busiest: its busiest pipe, "" if unknown.
    launch_us: of its time, until the first cycle of a core.
    """

    start: float
    end: float
    engine: str
    busiest: str = ""
    launch_us: float = 0.0


def busiest_pipe(cycles: Mapping[str, float]) -> str:
    """The pipe with most cycles, "" where none has any."""
    return max(cycles, key=lambda pipe: cycles[pipe]) if any(cycles.values()) else ""


def parts_of(tasks: Sequence[TimedTask], step_us: float, begins: float) -> dict[str, float]:
    """Shares of a step by part, which sum to 1.

    step_us: of the step.  begins: the moment from which the host prepares the step, until its first task starts. What is left is
    waiting.
    """
    found = dict.fromkeys((*_CORES, "memory", "ai_cpu", "launch", "host", "waiting"), 0.0)
    core = [task for task in tasks if task.engine in _CORES]
    covered = union((task.start, task.end) for task in core)
    _count_core(core, found, covered)
    for engine, part in _BESIDE.items():
        both = union([*covered, *((task.start, task.end) for task in tasks if task.engine == engine)])
        found[part] += _length(both) - _length(covered)
        covered = both
    first = covered[0][0] if covered else begins + step_us
    found["host"] += max(0.0, first - begins)
    found["waiting"] += max(0.0, step_us - sum(found.values()))
    total = sum(found.values())
    return {part: us / total for part, us in found.items()} if total else found


def _count_core(core: Sequence[TimedTask], found: dict[str, float], covered: Sequence[tuple[float, float]]) -> None:
    """Count tasks of the cores, scaled so that those side by side on two streams count as long as they take together."""
    summed = sum(task.end - task.start for task in core)
    scale = _length(covered) / summed if summed else 0.0
    for task in core:
        us = task.end - task.start
        launch = min(us, max(0.0, task.launch_us))
        found["launch"] += scale * launch
        found[_part(task)] += scale * (us - launch)


def _part(task: TimedTask) -> str:
    """The part of a task's work. The scalar pipe is in every core: a task that waits for it counts as its engine."""
    if task.busiest in ("", "scalar"):
        return task.engine
    return task.busiest if task.busiest in _CORES else "memory"


def _length(spans: Iterable[tuple[float, float]]) -> float:
    return sum(end - start for start, end in spans)
