"""The inputs of an operator that has failed, in a file, for whoever looks for the reason."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np

from npu_runtime.device.device_number import device_number
from npu_runtime.device.variable import Variable
from npu_runtime.executor.program import Program, Task
from npu_runtime.executor.task_observers import on_failure
from npu_runtime.graph.ir import Node
from npu_runtime.graph.ops import WHILE
from npu_runtime.log import tell
from npu_runtime.observers.base import SessionObserver
from npu_runtime.observers.dump.operators import Operator, Tensor, file_name_of, type_of
from npu_runtime.observers.dump.recorder import copies_of
from npu_runtime.observers.dump.step_output import StepOutput
from npu_runtime.observers.dump.writer import WRITER
from npu_runtime.observers.loaded_program import LoadedProgram

OPTION = "enable_exception_dump"
PREFIX = "exception_info."
"""The beginning of the files' names.  Source: the documents of the option."""
MOST_WRITTEN = 10
"""Failures of a process that are written: a script that catches them may go on for as long as it likes."""
_COMMON, _LIGHT = "1", "2"


class ExceptionDump(SessionObserver):
    """kind: 1 or 2, which tells the folder.  environment: with the folders that the user has named."""

    def __init__(self, kind: str, environment: Mapping[str, str] = os.environ) -> None:
        self._kind, self._environment = kind, environment

    def around_run(self, loaded: LoadedProgram) -> AbstractContextManager[None]:
        """Around a run of a program."""
        return on_failure(_Failures(self, loaded.program))

    def folder(self) -> tuple[Path, tuple[str, ...]]:
        """A folder that should exist, and the path below it."""
        names = ("NPU_COLLECT_PATH", "ASCEND_WORK_PATH") if self._kind == _COMMON else ("ASCEND_WORK_PATH",)
        for name in names:
            if self._environment.get(name):
                return Path(self._environment[name]).absolute(), ()
        below = () if self._kind == _COMMON else ("data-dump", str(device_number(self._environment)))
        return Path.cwd(), ("extra-info", *below)


class _Failures:
    """Told of the tasks of one run that fail."""

    n_written = 0

    def __init__(self, dump: ExceptionDump, program: Program) -> None:
        self._dump, self._program = dump, program

    def failed(self, task: Task, inputs: Sequence[Any]) -> None:
        if task.op == WHILE or _Failures.n_written >= MOST_WRITTEN:  # of a loop, the operator inside has been told
            return
        _Failures.n_written += 1
        operator = _operator(task, self._program, inputs)
        output = StepOutput(*self._dump.folder())
        output.put_tensors(operator, copies_of(inputs, operator.read), [], PREFIX)
        output.end()
        WRITER.flush()
        if output.n_files:
            last = "; no more of this process are written" if _Failures.n_written == MOST_WRITTEN else ""
            tell(f"Exception dump: {operator.name} has failed; what it was given is in {output.path}{last}")


def _operator(task: Task, program: Program, inputs: Sequence[Any]) -> Operator:
    """The operator as a dump names it; inside of a loop its place in the program is that of no other task."""
    node = Node(task.node, task.op)
    position = next((i for i, step in enumerate(program.steps) if step is task), len(program.steps))
    read = tuple(Tensor(None, _type_of(value), False, None) for value in inputs)
    stream = program.streams.streams.get(task.node, 0)
    return Operator(task.node, file_name_of(node), type_of(node), position, stream, (task.node,), (), read, ())


def _type_of(value: Any) -> str:
    if isinstance(value, Variable):
        return value.type_name
    return np.asarray(value).dtype.name if isinstance(value, np.ndarray | np.generic) else ""


def exception_dump(parameters: Mapping[str, Any]) -> ExceptionDump | None:
    """The exception dump that a session's options ask for, None for none."""
    kind = str(parameters.get(OPTION) or "")
    return ExceptionDump(kind) if kind in (_COMMON, _LIGHT) else None
