"""Cases: functions that do something with TensorFlow, and return what a script would see of it."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[[], Any])
SAME_SUMS = 1e-5
"""Relative difference of numbers from a few operations: sums in another order."""
TRAINED = 1e-4
"""Relative difference of numbers behind some steps of training."""
EXACT = 0.0
"""Counts, what is only moved or copied, and integers."""


def case(within: float = SAME_SUMS) -> Callable[[Function], Function]:
    """Marks a case.  within: the relative difference that its numbers may have from TensorFlow's."""

    def mark(function: Function) -> Function:
        function.__dict__["within"] = within
        return function

    return mark


def cases_of(module: ModuleType) -> dict[str, Callable[[], Any]]:
    """The cases of a module, in their order."""
    return {name: one for name, one in vars(module).items() if "within" in getattr(one, "__dict__", ())}
