"""The tasks of a step by operator and by type of operator, those that take most time first."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tf2npu.prediction.document import Task


@dataclass
class Operators:
    """Tasks that belong together.  us: microseconds of all.  first: the first of them."""

    first: Task
    us: float = 0.0
    n_tasks: int = 0

    def add(self, task: Task) -> None:
        self.us += task.duration_us
        self.n_tasks += 1


def by_operator(tasks: Iterable[Task]) -> list[Operators]:
    """One entry for each operator of the graph, which may run several times in a step."""
    return _grouped(tasks, lambda task: (task.name, task.op_type, task.source))


def by_type(tasks: Iterable[Task]) -> list[Operators]:
    """One entry for each type of operator and engine."""
    return _grouped(tasks, lambda task: (type_of(task), task.engine))


def type_of(task: Task) -> str:
    """The type of a task's operator, or its name where a profile without types was read."""
    return task.op_type or task.name


def _grouped(tasks: Iterable[Task], key: Callable[[Task], tuple[str, ...]]) -> list[Operators]:
    groups: dict[tuple[str, ...], Operators] = {}
    for task in tasks:
        groups.setdefault(key(task), Operators(task)).add(task)
    return [groups[name] for name in sorted(groups, key=lambda name: (-groups[name].us, name))]
