"""A step that computes nothing: the host does what needs nothing of the device, and fetches are zeros of the right shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from npu_runtime.dtypes import to_numpy
from npu_runtime.executor.program import HostStep, Program
from npu_runtime.graph.spec import Spec


def is_setting(program: Program, feeds: Sequence[Any]) -> bool:
    """Whether a step only sets variables to single numbers that are fed, as how often a loop on the device turns."""
    return bool(feeds) and not program.fetches and all(np.size(value) == 1 for value in feeds) and not program.device_flops


def run_shapes(program: Program, specs: Sequence[Spec]) -> list[Any]:
    """The fetches of a step.  specs: of the fetches; an extent that is not known counts as one, of strings as none.

    Source: monitored sessions fetch the names of variables that have no value yet, and go on when there are none.
    """
    made: dict[int, Any] = {}
    for step in program.steps:
        if isinstance(step, HostStep) and not step.ins:
            made.update(zip(step.outs, step.function([]), strict=True))
    return [made[slot] if slot in made else _zeros(spec) for slot, spec in zip(program.fetches, specs, strict=True)]


def _zeros(spec: Spec) -> Any:
    unknown = 0 if spec.dtype == "string" else 1
    shape = tuple(unknown if n is None else n for n in spec.shape or ())
    if spec.dtype == "string":
        return np.full(shape, b"", object)[()]
    return np.zeros(shape, to_numpy(spec.dtype))[()]
