"""Records the operators of one step: what each read, before it ran, and what it made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from weakref import ReferenceType, ref

import numpy as np

from npu_runtime.executor.program import HostStep, Task
from npu_runtime.executor.task_observers import Run
from npu_runtime.observers.dump.dump_request import INPUT, OUTPUT, STATS, DumpRequest
from npu_runtime.observers.dump.operators import Operator, Operators, Tensor
from npu_runtime.observers.dump.statistics import described, table
from npu_runtime.observers.dump.step_output import Array, StepOutput, format_of
from npu_runtime.observers.dump.stored_values import copy_of, numbers_of


class Recorder:
    """An observer of a step's tasks.  chosen: positions of the operators that are dumped."""

    def __init__(self, request: DumpRequest, operators: Operators, chosen: frozenset[int], output: StepOutput) -> None:
        self._operators, self._chosen, self._output = operators, chosen, output
        self._reads, self._makes = request.mode != OUTPUT, request.mode != INPUT
        self._is_table = request.data == STATS
        self._waiting: dict[int, tuple[Any, ReferenceType[np.ndarray]]] = {}
        """Planned values by `id`: the value, which keeps its id its own, and its copy as long as somebody has that."""
        self._described: dict[int, tuple[Any, str]] = {}
        """The same with what a table says of the value."""

    def observe(self, run: Run) -> Run:
        """`run` of one step, with its file.  An operator that is dead does not run, and has none."""

        def recorded(function: Callable[..., Any], step: Task | HostStep, slots: list[Any]) -> None:
            position = self._operators.by_task.get(id(step), -1)
            if position in self._chosen and isinstance(step, Task):
                planned = frozenset(index for index, *_ in step.buffers)
                function = self._recording(function, self._operators.all[position], planned)
            run(function, step, slots)

        return recorded

    def _recording(self, function: Callable[..., Any], operator: Operator, planned: frozenset[int]) -> Callable[..., Any]:
        """The kernel, which may write over what it reads: its inputs are kept before it runs.

        planned: outputs that the memory plan keeps as they are until their last reader has begun.
        """
        keep = self._rows if self._is_table else self._copies

        def kept(*inputs: Any) -> Any:
            before = keep("Input", inputs, operator.read, frozenset()) if self._reads else []
            result = function(*inputs)
            after = keep("Output", results_of(result, operator), operator.outputs, planned) if self._makes else []
            if self._is_table:
                self._output.put_table(operator, table([*before, *after]))
            else:
                self._output.put_tensors(operator, before, after)
            return result

        return kept

    def _copies(self, side: str, values: Sequence[Any], tensors: Sequence[Tensor], planned: frozenset[int]) -> list[Any]:
        """Copies; of a planned value one that still waits to be written serves its readers, too."""
        found = []
        for index, (value, tensor) in enumerate(zip(values, tensors, strict=False)):
            made_of, known = self._waiting.get(id(value), (None, None))
            copy = known() if known is not None and made_of is value else None
            if copy is None:
                copy = copy_of(value, tensor)
                if index in planned:
                    self._waiting[id(value)] = value, ref(copy)
            found.append((copy, format_of(tensor, copy)))
        return found

    def _rows(self, side: str, values: Sequence[Any], tensors: Sequence[Tensor], planned: frozenset[int]) -> list[Any]:
        """Lines of a table; a planned value is looked at once, for its readers too."""
        found = []
        for index, (value, tensor) in enumerate(zip(values, tensors, strict=False)):
            made_of, text = self._described.get(id(value), (None, ""))
            if made_of is not value or value is None:
                array = numbers_of(value, tensor)
                text = described(array, format_of(tensor, array))
                if index in planned:
                    self._described[id(value)] = value, text
            found.append(f"{side},{index},{text}")
        return found


def copies_of(values: Sequence[Any], tensors: Sequence[Tensor]) -> list[Array]:
    """The tensors as they go into a file."""
    arrays: list[np.ndarray] = [copy_of(value, tensor) for value, tensor in zip(values, tensors, strict=False)]
    return [(array, format_of(tensor, array)) for array, tensor in zip(arrays, tensors, strict=False)]


def results_of(result: Any, operator: Operator) -> Sequence[Any]:
    """The results of a kernel as a sequence, one value an output."""
    if isinstance(result, tuple | list) and (len(operator.outputs) != 1 or isinstance(result, tuple)):
        return result
    return (result,) if operator.outputs else ()
