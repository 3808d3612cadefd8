"""Locks of variables: a kernel that is handed variables has them to itself, and no other thread reads or writes them meanwhile.

Reads of a resource variable take a reference, which makes the next writer copy; so every value that is read is one that stood
between two updates.  Source: TensorFlow's resource kernels hold the variable's mutex for the same reason.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from npu_runtime.device.variable import Variable


def holding(function: Callable[..., Any], positions: Sequence[int]) -> Callable[..., Any]:
    """The function, run while the variables at these positions are locked, always in the same order."""

    def one(*inputs: Any, **keywords: Any) -> Any:
        with inputs[position].lock:
            return function(*inputs, **keywords)

    last: tuple[list[Any], list[Variable]] = [], []

    def several(*inputs: Any, **keywords: Any) -> Any:
        nonlocal last
        given, (known, held) = [inputs[i] for i in positions], last
        if given != known:  # a program has the same ones each time
            held = sorted(set(given), key=_number)
            last = given, held
        for variable in held:
            variable.lock.acquire()
        try:
            return function(*inputs, **keywords)
        finally:
            for variable in held:
                variable.lock.release()

    position = positions[0]
    return one if len(positions) == 1 else several


def _number(variable: Variable) -> int:
    return variable.number
