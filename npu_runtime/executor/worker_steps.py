"""The steps of one run that are under way beside others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import Any

from npu_runtime.errors import DeviceError
from npu_runtime.executor.program import Task
from npu_runtime.executor.steps import inputs_of, launch
from npu_runtime.kernels.threads.background import Background, begin


class WorkerSteps:
    """Inside `with`, steps are begun and waited for; at its end none is under way, however it is left."""

    __slots__ = ("_begun", "_failed")

    def __init__(self) -> None:
        self._begun: dict[int, tuple[Task, Background]] = {}
        """Steps that workers run, by position in the program, and so in order."""
        self._failed: dict[int, Exception] = {}

    def begin(self, position: int, function: Callable[..., Any], task: Task, slots: list[Any]) -> None:
        """Start a step on a worker; its inputs are taken from the slots now."""
        call = partial(launch, function, task, inputs_of(task, slots), slots)
        for slot in task.frees:
            slots[slot] = None
        self._begun[position] = task, begin(call)

    def wait(self, positions: Iterable[int]) -> None:
        """Return when the steps at these positions have ended.  Raises: what a kernel raised, with its node."""
        for position in positions:
            task, call = self._begun.pop(position)
            call.take()
            for _, other in self._begun.values():
                if call.is_done:
                    break
                other.take()  # rather than wait
            try:
                call.wait()
            except Exception as error:
                self._failed[position] = error.at(task.node, task.op) if isinstance(error, DeviceError) else error
                raise

    def __enter__(self) -> WorkerSteps:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Wait for what is left. The error of the first step in order is raised, as when each step waits for the last."""
        for position in tuple(self._begun):
            with suppress(Exception):  # noted
                self.wait([position])
        if self._failed and (error is None or isinstance(error, DeviceError)):
            first = self._failed[min(self._failed)]
            raise first from first.__cause__
