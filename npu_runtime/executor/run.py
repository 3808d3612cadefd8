"""The runner of a program: the loop over its steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from threading import Lock
from typing import Any, NoReturn
from weakref import WeakKeyDictionary

import numpy as np

from npu_runtime.device import float_status
from npu_runtime.device.denormals import flushed
from npu_runtime.device.memory import Arena, ArenaPool
from npu_runtime.device.variable import Variable
from npu_runtime.errors import DeviceError, InvalidArgument
from npu_runtime.executor.autotune_steps import Bound, Trials
from npu_runtime.executor.program import DEAD, HostStep, Program, Task, step_name, to_user
from npu_runtime.executor.steps import FAILURES, prepared, run_step, run_step_with_branches, told
from npu_runtime.executor.task_observers import Run, observed, tell_failure
from npu_runtime.executor.watch import current
from npu_runtime.executor.worker_steps import WorkerSteps
from npu_runtime.interrupts import current as current_interrupts


class Runner:
    """A program and the arenas it may run in; several threads may run it at once, each in an arena of its own."""

    def __init__(self, program: Program, arenas: ArenaPool) -> None:
        self.program = program
        self._arenas = arenas
        self._bound: WeakKeyDictionary[Arena, Bound] = WeakKeyDictionary()
        self._lock = Lock()
        self._overlaps = any(isinstance(step, Task) and step.is_beside for step in program.steps)
        self._trials = Trials(self._overlaps)
        self._first_write = next((i for i, step in enumerate(program.steps) if step.writes), len(program.steps))

    def run(self, feeds: Sequence[np.ndarray], convert: Callable[[Any], Any] = to_user) -> list[Any]:
        """Values of the fetches, through `convert`, which by default copies them out of device memory.

        Raises: DeviceError with the node where it happened; TensorFlow's errors from host steps.
        """
        arena = self._arenas.take(self.program.memory.arena_bytes)
        try:
            with flushed(), np.errstate(all="ignore"):  # overflow and NaN are values here, as in TensorFlow
                return self._run(self._bind(arena), feeds, convert)
        finally:
            self._arenas.give_back(arena)

    def _bind(self, arena: Arena) -> Bound:
        """Every task with its buffers in the arena; made once for each, and gone with it."""
        with self._lock:
            bound = self._bound.get(arena)
            if bound is None:
                steps = self.program.steps
                functions = [_with_buffers(step, arena) if isinstance(step, Task) else step.function for step in steps]
                bound = [(made, step, self._plain(made, step)) for made, step in zip(functions, steps, strict=True)]
                self._trials.apply(bound)
                self._bound[arena] = bound
            return bound

    def _plain(self, function: Callable[..., Any], step: Task | HostStep) -> Callable[[list[Any]], None]:
        """The step made once; what cannot see anything dead is not looked at, though the program has branches."""
        is_looked_at = self.program.has_branches and (isinstance(step, HostStep) or step.may_see_dead)
        return partial(run_step_with_branches, function, step) if is_looked_at else prepared(function, step)

    def _run(self, bound: Bound, feeds: Sequence[np.ndarray], convert: Callable[[Any], Any]) -> list[Any]:
        slots = list(self.program.template)
        float_status.begin(self.program.saturates)
        for slot, value in zip(self.program.feeds, feeds, strict=True):
            slots[slot] = value
        plain = run_step_with_branches if self.program.has_branches else run_step
        watch = current()
        run = observed(plain if watch is None else watch.observe(plain))
        if run is not plain or float_status.saturates():
            self._run_steps(bound, slots, run, WorkerSteps() if run is run_step else None)
        elif self._trials.run(
            bound, lambda steps, beside: self._run_steps(steps, slots, None, WorkerSteps() if beside else None)
        ):
            self._settle()
        return [self._fetch(slots, i, convert) for i in range(len(self.program.fetches))]

    def _settle(self) -> None:
        """Apply the best trial to the steps of every arena."""
        with self._lock:
            for bound in self._bound.values():
                self._trials.apply(bound)

    def _run_steps(self, bound: Bound, slots: list[Any], run: Run | None, beside: WorkerSteps | None) -> None:
        """run: of one step; None: as it was made ready.  beside: runs what may run beside other steps; None: nothing does."""
        if run is None and not self._overlaps:
            return self._run_plain(bound, slots)
        interrupts = current_interrupts()
        with beside or nullcontext():
            for position, (function, step, plain) in enumerate(bound):
                if step.writes:
                    interrupts.is_held = True
                try:
                    if beside is not None and step.waits:
                        beside.wait(step.waits)
                    if beside is not None and isinstance(step, Task) and step.is_beside:
                        beside.begin(position, function, step, slots)
                    elif run is None:
                        plain(slots)
                    else:
                        run(function, step, slots)
                except _CAUGHT as error:
                    _raise_at(step, error, slots)
                if interrupts.pending:
                    interrupts.deliver()

    def _run_plain(self, bound: Bound, slots: list[Any]) -> None:
        """Runs the steps as they were made ready, one after the other.

        Asking each step what it does would take as long as a small one: it is somewhere else in memory.
        """
        interrupts = current_interrupts()
        for part in (bound[: self._first_write], bound[self._first_write :]):
            for _, step, plain in part:
                try:
                    plain(slots)
                except _CAUGHT as error:
                    _raise_at(step, error, slots)
                if interrupts.pending:
                    interrupts.deliver()
            interrupts.is_held = interrupts.is_held or self._first_write < len(bound)

    def _fetch(self, slots: list[Any], position: int, convert: Callable[[Any], Any]) -> Any:
        value = slots[self.program.fetches[position]]
        if value is DEAD:
            name = self.program.fetch_values[position]
            raise InvalidArgument(f"Retval[{position}] does not have value\n\t {name} is in a branch that was not taken")
        if not isinstance(value, Variable):
            return convert(value)
        try:
            with value.lock:  # copied as it stands between two updates
                return convert(value.read())
        except DeviceError as error:
            raise error.at(self.program.fetch_values[position].node, "fetch") from None


_CAUGHT = (DeviceError, *FAILURES)


def _raise_at(step: Task | HostStep, error: Exception, slots: list[Any]) -> NoReturn:
    """Raises: the error as one of the step's node; what the host raises, which is no DeviceError, as it is."""
    if isinstance(error, DeviceError):
        tell_failure(step, slots)
        raise error.at(step_name(step), getattr(step, "op", "host call")) from error.__cause__
    if isinstance(step, HostStep):
        raise error
    tell_failure(step, slots)
    raise told(error, [slots[i] for i in step.ins]).at(step.node, step.op) from error


def _with_buffers(task: Task, arena: Arena) -> Callable[..., Any]:
    if not task.buffers:
        return task.function
    views = {index: arena.view(offset, shape, dtype) for index, offset, shape, dtype in task.buffers}
    if len(task.outs) == 1:
        return partial(task.function, out=views[0])
    return partial(task.function, out=tuple(views.get(i) for i in range(len(task.outs))))
