"""The memory that a check of a script needs, estimated before its first step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from npu_bridge._check.plain_step import tensor_bytes
from npu_bridge._check.step_graph import StepGraph

_PROCESSES = 2
"""The migrated script runs while the original runs again."""
_PROCESS_BYTES = 600_000_000
"""Bytes that a process takes for its modules, its graph and what is compiled of it: 0.5 to 0.7 GB were measured."""
_COPIES = 4
"""Copies of each variable: TensorFlow's, the device's, the value before a step and that behind it."""


def needed_bytes(
    graph: StepGraph, names: Iterable[str], sources: Mapping[str, np.ndarray], before: Mapping[str, np.ndarray]
) -> int:  # fmt: skip
    """About how much is needed at once.  names: tensors that are looked at.  before: variables.

    All tensors of a step together are more than are alive at one time, and the parts in which they are looked at are less.
    """
    of_step = sum(tensor_bytes(graph, names, sources).values())
    of_variables = sum(value.nbytes for value in before.values())
    return _PROCESSES * (_PROCESS_BYTES + of_step + _COPIES * of_variables)
