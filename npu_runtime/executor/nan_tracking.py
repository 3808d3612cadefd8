"""The origins of NaN: the first nodes of a run that make one out of inputs that hold none.

For option `track_nan`. Every value is looked at before and after every kernel, so steps take longer; nothing is fused then, so
that the node named is one of the user's graph.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from npu_runtime.device.variable import Variable
from npu_runtime.errors import InvalidArgument
from npu_runtime.executor.program import HostStep, Task
from npu_runtime.executor.task_observers import Run
from npu_runtime.graph.ops import WHILE

MOST_ORIGINS = 3
"""Nodes that are named in the run log; the first ones tell most."""


@dataclass
class NanTracker:
    """raises: whether a NaN ends the step.  origins: a sentence for each of the first nodes that made one."""

    raises: bool
    origins: list[str] = field(default_factory=list)

    def observe(self, run: Run) -> Run:
        """`run` of one step with a look at its values.  Raises: InvalidArgument at the first NaN when `raises` is set."""

        def observed(function: Callable[..., Any], step: Task | HostStep, slots: list[Any]) -> None:
            if isinstance(step, Task) and step.op == WHILE:  # its own steps are looked at
                return run(function, step, slots)
            had_nan = any(count_nan(slots[i]) for i in step.ins)
            variables = [slots[i] for i in step.ins if isinstance(slots[i], Variable)]
            kept: list[Any] = []
            run(_keeping(function, kept), step, slots)
            if not had_nan and (found := sum(map(count_nan, kept + variables))):
                self._found(step, found)
            return None

        return observed

    def _found(self, step: Task | HostStep, n_elements: int) -> None:
        node = step.node if isinstance(step, Task) else step.nodes[0]
        said = f"{n_elements} element{'s' * (n_elements > 1)} of its results are NaN, and its inputs hold none"
        if self.raises:
            raise InvalidArgument(f"{said} (--option track_nan=raise)")
        if len(self.origins) < MOST_ORIGINS:
            self.origins.append(f"{node}: {said}")


def _keeping(function: Callable[..., Any], kept: list[Any]) -> Callable[..., Any]:
    """The function; its results are kept until they are looked at, as nobody may read them later."""

    def run(*inputs: Any) -> Any:
        result = function(*inputs)
        kept.extend(result if isinstance(result, tuple | list) else (result,))
        return result

    return run


def count_nan(value: Any) -> int:
    """Elements of a tensor or variable that are NaN."""
    if isinstance(value, Variable):
        value = value.read() if value.is_initialized else None
    if not isinstance(value, np.ndarray | np.floating) or value.dtype.kind not in "fV":
        return 0
    return int(np.count_nonzero(value != value))
