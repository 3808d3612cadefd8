"""Keeps the tensors of a step in memory, by the names of the user's graph, as a dump would have them.

Nothing is fetched or marked for that, so what is fused stays fused: a tensor that no operator stores has no value here.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from npu_runtime.dump.models import Model
from npu_runtime.dump.operators import Operators, operators_of
from npu_runtime.dump.recorder import results_of
from npu_runtime.dump.session_dump import DumpedModel
from npu_runtime.dump.stored_values import NOTHING, copy_of
from npu_runtime.executor.program import HostStep, Program, Task
from npu_runtime.executor.task_observers import Run, observing
from npu_runtime.graph.ir import Graph


class TensorRecorder:
    """values: of the latest step, "node:output" of the user's graph -> array as it lies on the device.  Operators inside of
    loops run many times and are left out.
    """

    def __init__(self) -> None:
        self.values: dict[str, np.ndarray] = {}

    def load(self, model: Model, compiled: Graph, program: Program, asked: Graph, users: Graph) -> DumpedModel:
        """A program for the recorder."""
        return DumpedModel(model, operators_of(compiled, program), program.host_nodes, {})

    @contextmanager
    def step(self, program: Hashable, model: DumpedModel) -> Iterator[None]:
        """Around a step whose tensors are kept."""
        self.values = {}
        with observing(_Observer(model.operators, self.values)):
            yield

    def finish(self) -> None:
        """Nothing waits to be written."""


class _Observer:
    def __init__(self, operators: Operators, values: dict[str, np.ndarray]) -> None:
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
