"""The tasks of a step by operator and by type of operator, those that take most time first."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from npu_formats.documents.prediction import Task
from npu_formats.intervals import union

_CORES = ("cube", "vector", "")
"""Engines that are the AI cores. A profile that does not name engines counts all its tasks as theirs."""
Spans = Sequence[tuple[float, float]]


@dataclass
class Operators:
    """Tasks that belong together.  us: microseconds of all.  exposed_us: of these, when no AI core worked on another task.
    first: the first of them.
    """

    first: Task
    us: float = 0.0
    n_tasks: int = 0
    exposed_us: float = 0.0

    def add(self, task: Task, exposed_us: float) -> None:
        self.us += task.duration_us
        self.exposed_us += exposed_us
        self.n_tasks += task.runs


def by_operator(tasks: Sequence[Task]) -> list[Operators]:
    """One entry for each operator of the graph, which may run several times in a step.

    What the step waits for comes first: an operator beside the AI cores counts for as long as none of them works.
    """
    groups = _grouped(tasks, lambda task: (task.name, task.op_type, task.source))
    return sorted(groups, key=lambda group: -group.exposed_us)


def by_type(tasks: Iterable[Task]) -> list[Operators]:
    """One entry for each type of operator and engine."""
    return _grouped(tasks, lambda task: (type_of(task), task.engine))


def type_of(task: Task) -> str:
    """The type of a task's operator, or its name where a profile without types was read."""
    return task.op_type or task.name


def _grouped(tasks: Iterable[Task], key: Callable[[Task], tuple[str, ...]]) -> list[Operators]:
    groups: dict[tuple[str, ...], Operators] = {}
    kept = list(tasks)
    busy = union((task.start_us, task.start_us + task.duration_us) for task in kept if task.engine in _CORES)
    for task in kept:
        exposed = task.duration_us if task.engine in _CORES else _uncovered(task, busy)
        groups.setdefault(key(task), Operators(task)).add(task, exposed)
    return [groups[name] for name in sorted(groups, key=lambda name: (-groups[name].us, name))]


def _uncovered(task: Task, busy: Spans) -> float:
    """Microseconds of a task outside of spans."""
    end, left = task.start_us + task.duration_us, task.duration_us
    first = max(0, bisect.bisect(busy, (task.start_us, task.start_us)) - 1)
    for begins, ends in busy[first:]:
        if begins >= end:
            break
        left -= max(0.0, min(end, ends) - max(task.start_us, begins))
    return max(0.0, left)
