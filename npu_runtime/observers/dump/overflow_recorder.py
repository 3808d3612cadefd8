"""Looks for operators whose results do not fit fp16, or hold a NaN that no input has, and records those alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np

from npu_formats.device.chip import Chip
from npu_runtime.device import float_status
from npu_runtime.device.variable import Variable
from npu_runtime.executor.program import HostStep, Task
from npu_runtime.executor.task_observers import Run
from npu_runtime.observers.dump.dump_request import AICORE, ATOMIC, DumpRequest
from npu_runtime.observers.dump.operators import Operator, Operators, Tensor
from npu_runtime.observers.dump.overflow_table import new_table, old_table
from npu_runtime.observers.dump.recorder import copies_of, results_of
from npu_runtime.observers.dump.step_output import StepOutput
from npu_runtime.observers.dump.stored_values import array_of
from npu_runtime.observers.models import Model

MOST_RECORDED = 100
"""Overflows of a step that have files; the rest are counted.  The first ones tell most: what follows is what they have led to."""
ATOMIC_TYPES = frozenset({
    "BiasAddGrad", "Conv2DBackpropFilter", "ScatterAdd", "ScatterNdAdd", "ScatterSub", "UnsortedSegmentSum", "SegmentSum",
})  # fmt: skip
"""Operators whose cores add into one place of memory; what overflows there is told by the cache, not by a core."""
_CUBE_TYPES = frozenset({"MatMul", "MatMulV2", "BatchMatMul", "BatchMatMulV2", "Conv2D", "Conv2DBackpropInput", "FusedConv2D"})
"""Operators of the cube cores, of chips where those are apart from the vector cores."""
_HALVES = ("float16", "bfloat16")


class OverflowRecorder:
    """An observer of a step's tasks.  n_found: operators that have overflowed.  chip: for the layout of the table."""

    def __init__(self, request: DumpRequest, operators: Operators, model: Model, output: StepOutput, chip: Chip) -> None:
        self._operators, self._model, self._output = operators, model, output
        self._looks_for, self._is_split = request.looks_for, chip.is_split
        self.n_found = 0

    def observe(self, run: Run) -> Run:
        """`run` of one step with a look at its results."""

        def looked_at(function: Callable[..., Any], step: Task | HostStep, slots: list[Any]) -> None:
            position = self._operators.by_task.get(id(step))
            if position is not None and isinstance(step, Task) and self._is_meant(self._operators.all[position]):
                function = self._looking(function, self._operators.all[position], step)
            run(function, step, slots)

        return looked_at

    def _is_meant(self, operator: Operator) -> bool:
        is_atomic = operator.type in ATOMIC_TYPES
        return not (is_atomic and self._looks_for == AICORE) and not (not is_atomic and self._looks_for == ATOMIC)

    def _looking(self, function: Callable[..., Any], operator: Operator, task: Task) -> Callable[..., Any]:
        def looking(*inputs: Any) -> Any:
            before = kept(inputs, function, task)
            result = function(*inputs)
            results = results_of(result, operator)
            if has_overflowed(results, operator.outputs) or (has_nan(results) and not has_nan(before)):
                self.n_found += 1
                if self.n_found <= MOST_RECORDED:
                    self._record(operator, before, results)
            return result

        return looking

    def _record(self, operator: Operator, before: Sequence[Any], results: Sequence[Any]) -> None:
        now = self._output.put_tensors(operator, copies_of(before, operator.read), copies_of(results, operator.outputs))
        numbers = self._model.number, operator.stream_id, operator.task_id
        if self._is_split:
            table = new_table(*numbers, is_vector=operator.type not in _CUBE_TYPES)
        else:
            table = old_table(*numbers, is_atomic=operator.type in ATOMIC_TYPES)
        self._output.put_debug(operator, now, table)


def kept(inputs: Sequence[Any], function: Callable[..., Any], task: Task) -> list[Any]:
    """The inputs, as they are when the operator has run: what it may write over is copied."""
    out = function.keywords.get("out") if isinstance(function, partial) else None
    places = [place for place in (out if isinstance(out, tuple) else (out,)) if place is not None]
    return [_before(value, places, task.writes) for value in inputs]


def _before(value: Any, places: Sequence[np.ndarray], writes: bool) -> Any:
    if isinstance(value, Variable):
        with value.lock:
            return array_of(value).copy() if writes else array_of(value)
    is_shared = isinstance(value, np.ndarray) and (writes or any(np.may_share_memory(value, place) for place in places))
    return value.copy() if is_shared else value


def has_overflowed(values: Sequence[Any], tensors: Sequence[Tensor]) -> bool:
    """Whether a float among the values is infinite, or of 16 bits of fp16 and at the end of its range."""
    return any(_overflows(array_of(value), tensor.dtype) for value, tensor in zip(values, tensors, strict=False))


def _overflows(array: np.ndarray, dtype: str) -> bool:
    if not _is_float(array) or not array.size:
        return False
    is_float16 = dtype == "float16" or array.dtype == np.float16
    with np.errstate(all="ignore"):
        limit = float(float_status.LARGEST) if is_float16 else np.inf
        smallest, largest = np.fmin.reduce(array, axis=None), np.fmax.reduce(array, axis=None)
        return bool(largest >= limit or smallest <= -limit)


def has_nan(values: Sequence[Any]) -> bool:
    """Whether a NaN is among the values."""
    arrays = [array_of(value) for value in values]
    return any(_is_float(array) and bool(np.isnan(array).any()) for array in arrays)


def _is_float(array: np.ndarray) -> bool:
    return array.dtype.kind == "f" or array.dtype == ml_dtypes.bfloat16
