"""The view of a session that its observers have, and what they may answer: `SessionObserver`.

A tool that looks on (a dump, a profile, a prediction) is a subclass with the methods of the moments that it needs. The list of
them is in `npu_runtime/session/device_session.py`; the session itself names none.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import Any, Concatenate, ParamSpec, TypeVar

from npu_formats.device.chip import Chip
from npu_runtime.cost.choice import Choice
from npu_runtime.executor.program import Program
from npu_runtime.lowering.lower import Choose, LoweredTask, untuned
from npu_runtime.observers.loaded_program import LoadedProgram, Loading
from npu_runtime.observers.ran_step import ProgramStep, RanStep
from npu_runtime.trace.run_log import ProgramRecord

HostFunction = Callable[[Any], Any]
"""Runs a call of the host: values that it is fed -> values that it gives back."""
Around = Callable[..., AbstractContextManager[None]]
P = ParamSpec("P")
R = TypeVar("R")


class SessionObserver:
    """Looks on while a session compiles and runs.

    Every method here does nothing, and a session calls only those that an observer has of its own: a moment at which nobody
    looks costs nothing.  computes: whether steps are to be computed, and not only compiled.
    """

    computes: bool = True

    def host_call(self, function: HostFunction, ops: list[str]) -> HostFunction:
        """The function to run a call of the host with.  ops: operators that it runs."""
        return function

    def around_step(self) -> AbstractContextManager[None]:
        """Around a step and all that is done for it: compiling, waiting, running, and what other observers do behind it."""
        return nullcontext()

    def around_compilation(self) -> AbstractContextManager[None]:
        """Around what the graph compiler does, which may be nothing new."""
        return nullcontext()

    def planned(self, record: ProgramRecord) -> None:
        """A kind of run has its record, and no program yet."""

    def compiling(self, loading: Loading) -> None:
        """A program is about to be compiled."""

    def compiled(self, loading: Loading, program: Program) -> None:
        """A program has been compiled; whether it fits into the device's memory is not known yet."""

    def loaded(self, loading: Loading, loaded: LoadedProgram) -> None:
        """A program is ready to run."""

    def before(self, step: ProgramStep) -> None:
        """A step is about to run."""

    def around_run(self, loaded: LoadedProgram) -> AbstractContextManager[None]:
        """Around the computation of a step."""
        return nullcontext()

    def after(self, step: RanStep) -> None:
        """A step has run.  Raises: what ends the script."""

    def choice(self, task: LoweredTask, chip: Chip) -> Choice | None:
        """The choice of tuning that a task is compiled with on a chip; None for the default."""
        return None

    def close(self) -> None:
        """The session is closed."""


OF_ALL_SESSIONS: list[SessionObserver] = []
"""Observers that are told behind the steps of every session of this process, as long as they stand here."""
os.register_at_fork(after_in_child=OF_ALL_SESSIONS.clear)


class Observers:
    """The observers of one session, in order, a method for each moment.

    computes: whether all of them want steps computed.  before: methods to call with a step that is about to run, none where
    nobody looks at it.  choose: what tuning has chosen.  is_empty: whether there are none.
    """

    def __init__(self, observers: Iterable[SessionObserver] = ()) -> None:
        self._all = tuple(observers)
        self.is_empty = not self._all
        self.computes = all(one.computes for one in self._all)
        self.around_step = _around(self._own(SessionObserver.around_step))
        self.around_compilation = _around(self._own(SessionObserver.around_compilation))
        self.planned = _each(self._own(SessionObserver.planned))
        self.compiling = _each(self._own(SessionObserver.compiling))
        self.compiled = _each(self._own(SessionObserver.compiled))
        self.loaded = _each(self._own(SessionObserver.loaded))
        self.before = self._own(SessionObserver.before)
        self.around_run = _around(self._own(SessionObserver.around_run))
        self.close = _each(self._own(SessionObserver.close))
        self.choose: Choose = next(iter(self._own(SessionObserver.choice)), untuned)
        self._host_call = self._own(SessionObserver.host_call)
        self._after = self._own(SessionObserver.after)

    def _own(self, method: Callable[Concatenate[SessionObserver, P], R]) -> tuple[Callable[P, R], ...]:
        """The methods for one moment of those observers that have one of their own."""
        name = method.__name__
        return tuple(getattr(one, name) for one in self._all if getattr(type(one), name) is not method)

    def host_call(self, function: HostFunction, ops: list[str]) -> HostFunction:
        """The function to run a call of the host with, as all observers want it."""
        for wrap in self._host_call:
            function = wrap(function, ops)
        return function

    @property
    def after(self) -> Sequence[Callable[[RanStep], None]]:
        """Methods to call with a step that has run; none where nobody looks at it."""
        return (*self._after, *(one.after for one in OF_ALL_SESSIONS)) if OF_ALL_SESSIONS else self._after


def _each(methods: Sequence[Callable[..., None]]) -> Callable[..., None]:
    """Calls all of them, in order."""
    if len(methods) == 1:
        return methods[0]

    def call(*arguments: Any) -> None:
        for method in methods:
            method(*arguments)

    return call


def _around(methods: Sequence[Around]) -> Around:
    """A context within that of each, the first one outermost."""
    if len(methods) == 1:
        return methods[0]

    @contextmanager
    def around(*arguments: Any) -> Iterator[None]:
        with ExitStack() as stack:
            for method in methods:
                stack.enter_context(method(*arguments))
            yield

    return around if methods else _around_nothing


_NOTHING = nullcontext()


def _around_nothing(*_: Any) -> AbstractContextManager[None]:
    return _NOTHING
