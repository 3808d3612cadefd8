"""The choice between algorithms that compute the same: by the rules of each kernel, or by a tuner that tries them on a clock.

The rules look at shapes alone, and hold wherever nobody tunes. A tuner may take another algorithm for a shape, always the same
one, so that results repeat; it is that of the whole process, as the worker threads are.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import cache, partial
from typing import Protocol

import numpy as np

Trial = Callable[[], np.ndarray]
"""Computes a result from made-up operands, the same ones for every algorithm."""
Trials = Callable[[], Mapping[str, Trial]]
"""Gives a trial of each algorithm that takes these shapes."""


class Tuner(Protocol):
    """Whoever chooses by the clock."""

    def choose(self, kernel: str, shapes: Hashable, default: str, trials: Trials) -> str:
        """One of the names of `trials()`.

        kernel: what is computed.  shapes: all that the time depends on, a tuple of numbers and texts.  default: what the rules
        of the kernel say, one of the names.
        """

    def save(self) -> None:
        """Keep what was chosen for later processes."""


_tuner: Tuner | None = None


def set_tuner(tuner: Tuner | None) -> None:
    """Let this tuner choose in this process from now on; None: the rules do."""
    global _tuner
    _tuner = tuner


def is_tuned() -> bool:
    """Whether a tuner chooses."""
    return _tuner is not None


def chosen(kernel: str, shapes: Hashable, default: str, trials: Trials) -> str:
    """The name of the algorithm to take: see `Tuner.choose`."""
    return default if _tuner is None else _tuner.choose(kernel, shapes, default, trials)


def save_choices() -> None:
    """Save the choices of the tuner, if there is one: at the end of a step, whoever made the choices."""
    if _tuner is not None:
        _tuner.save()


def trials_of(algorithms: Iterable[str], prepare: Callable[[], Callable[[str], np.ndarray]]) -> dict[str, Trial]:
    """A trial of each algorithm.

    prepare: makes the operands, and gives what computes the result by an algorithm; called by the first trial, as a choice that
    is known needs none.
    """
    prepared = cache(prepare)
    return {name: partial(_run, prepared, name) for name in algorithms}


def _run(prepared: Callable[[], Callable[[str], np.ndarray]], name: str) -> np.ndarray:
    return prepared()(name)


def placeholder(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """An array for questions about its shape and type only: one element, seen everywhere."""
    return np.broadcast_to(np.zeros((), dtype), shape)


def operand(*shape: int) -> np.ndarray:
    """Made-up fp32 of a shape, normally distributed, the same whenever it is asked for."""
    return np.random.default_rng(shape).standard_normal(shape, np.float32)
