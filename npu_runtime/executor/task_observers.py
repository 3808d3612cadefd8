"""Observers of the tasks of a step while they run: for NaN, for dumps.  A step without observers takes the fast way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

from npu_runtime.executor.program import HostStep, Task

Run = Callable[[Callable[..., Any], "Task | HostStep", "list[Any]"], None]
"""run(function, step, slots): of one step."""


class TaskObserver(Protocol):
    """Makes of a run of one step another one, which looks at the step's values."""

    def observe(self, run: Run) -> Run: ...


class FailureObserver(Protocol):
    """Told of a task that has failed and what it was given."""

    def failed(self, task: Task, inputs: Sequence[Any]) -> None: ...


_observers: ContextVar[tuple[TaskObserver, ...]] = ContextVar("task_observers", default=())
_failures: ContextVar[FailureObserver | None] = ContextVar("failure_observer", default=None)


def observed(run: Run) -> Run:
    """`run` as the observers of this thread's step want it; without any as it is."""
    for observer in _observers.get():
        run = observer.observe(run)
    return run


@contextmanager
def observing(observer: TaskObserver) -> Iterator[None]:
    """Steps inside are observed."""
    token = _observers.set((*_observers.get(), observer))
    try:
        yield
    finally:
        _observers.reset(token)


@contextmanager
def on_failure(observer: FailureObserver) -> Iterator[None]:
    """The observer is told of a task that fails inside."""
    token = _failures.set(observer)
    try:
        yield
    finally:
        _failures.reset(token)


def tell_failure(step: Task | HostStep, slots: Sequence[Any]) -> None:
    """Tell the observer, if there is one, of a step that has failed."""
    observer = _failures.get()
    if observer is not None and isinstance(step, Task):
        observer.failed(step, [slots[i] for i in step.ins])
