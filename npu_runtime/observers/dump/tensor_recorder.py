"""Keeps the tensors of a step in memory, by the names of the user's graph, as a dump would have them.

Nothing is fetched or marked for that, so what is fused stays fused: a tensor that no operator stores has no value here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from npu_runtime.executor.program import HostStep, Task
from npu_runtime.executor.task_observers import Run, observing
from npu_runtime.observers.base import SessionObserver
from npu_runtime.observers.dump.operators import Operators, operators_of
from npu_runtime.observers.dump.recorder import results_of
from npu_runtime.observers.dump.stored_values import NOTHING, copy_of
from npu_runtime.observers.loaded_program import LoadedProgram, Loading


class TensorRecorder(SessionObserver):
    """values: of the latest step, "node:output" of the user's graph -> array as it lies on the device.  is_recording: whether
    steps are recorded now.  Operators inside of loops run many times and are left out.
    """

    def __init__(self, values: MutableMapping[str, np.ndarray] | None = None) -> None:
        self.values = {} if values is None else values
        self.is_recording = True
        self._operators: WeakKeyDictionary[LoadedProgram, Operators] = WeakKeyDictionary()

    def loaded(self, loading: Loading, loaded: LoadedProgram) -> None:
        """Find the operators of a program."""
        self._operators[loaded] = operators_of(loading.made.graph, loaded.program)

    @contextmanager
    def around_run(self, loaded: LoadedProgram) -> Iterator[None]:
        """Around a step whose tensors are kept."""
        if not self.is_recording:
            yield
            return
        self.values.clear()
        with observing(_Observer(self._operators[loaded], self.values)):
            yield


class _Observer:
    def __init__(self, operators: Operators, values: MutableMapping[str, np.ndarray]) -> None:
        self._operators, self._values = operators, values

    def observe(self, run: Run) -> Run:
        def recorded(function: Callable[..., Any], step: Task | HostStep, slots: list[Any]) -> None:
            position = self._operators.by_task.get(id(step), -1)
            if position >= 0 and not self._operators.all[position].loops:
                function = self._recording(function, position)
            run(function, step, slots)

        return recorded

    def _recording(self, function: Callable[..., Any], position: int) -> Callable[..., Any]:
        operator = self._operators.all[position]

        def kept(*inputs: Any) -> Any:
            result = function(*inputs)
            for value, tensor in zip(results_of(result, operator), operator.outputs, strict=False):
                if tensor.origin is not None and (array := copy_of(value, tensor)) is not NOTHING and array.size:
                    self._values[str(tensor.origin)] = array
            return result

        return kept
