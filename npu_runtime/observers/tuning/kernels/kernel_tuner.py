"""Choice of the fastest algorithm for a shape on this machine, measured when a kernel first meets the shape.

What is chosen holds for the rest of the process and, by the bank, for later ones: a choice is made once, before the kernel's
first result, so that a run that begins with the bank repeats the tuned run bit for bit. Two threads may try the same shape at
the same time; the first to end decides for both.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from math import inf
from threading import Lock
from time import perf_counter
from typing import Protocol

import numpy as np

from npu_runtime.kernels.algorithm_choice import Trial, Trials

TOLERANCE = 1e-5
"""Largest difference to the default's result, as a share of its largest magnitude, that another algorithm may have.  Source: the
tests hold kernels of fp32 within 4e-6 of TensorFlow's, and two that are each within it differ by twice as much."""
WORTH = 0.95
"""Share of the default's time that another algorithm may take at most: clocks differ by a few per cent from run to run."""
ROUNDS = 12
"""Times that each algorithm is tried, by turns; the shortest counts."""
FIRST_ROUNDS = 2
"""Rounds in which all take part: another process may have had the processor in the first."""
SECONDS_A_SHAPE = 1.0
"""Seconds after which the trials of a shape end with the round under way."""
BETWEEN = 1 << 19
"""Elements of fp32 that are touched between two trials, 2 MB: as in a step, the near caches hold something else by then, and the
worker threads sleep."""
HOPELESS = 1.5
"""Times as long as the fastest from which on an algorithm is not tried again."""


class KernelBank(Protocol):
    """A store of the choices of algorithms."""

    def get(self, kind: str, key: str) -> str | int | None:
        """The stored choice, None where there is none."""

    def put_all(self, choices: list[tuple[str, str, str | int]], replaces: bool) -> bool:
        """Keep choices: kind, key, choice.  replaces: whether they take the place of what is there."""


class KernelTuner:
    """bank: of this machine, None for none.  repeats: whether what the bank has is tried again.  seconds: for all trials.
    searches: whether anything is tried; else what the bank has not keeps the default, in this process alone.
    reads_bank: whether what the bank has is taken.

    n_tried, n_changed, n_known, n_late: shapes that were tried, that another algorithm than the default is better for, that the
    bank had, and that were out of time and keep the default.
    """

    def __init__(
        self, bank: KernelBank | None, repeats: bool, seconds: float, *, searches: bool = True, reads_bank: bool = True
    ) -> None:  # fmt: skip
        self.n_tried = self.n_changed = self.n_known = self.n_late = 0
        self.gained = 0.0
        """Seconds of one call each that the changes save."""
        self._bank, self._repeats, self._searches = bank, repeats, searches
        self._reads_bank = bank is not None and reads_bank and not repeats
        self._left = seconds
        self._made: dict[tuple[str, Hashable], str] = {}
        self._new: list[tuple[str, str, str | int]] = []
        self._lock = Lock()

    def choose(self, kernel: str, shapes: Hashable, default: str, trials: Trials) -> str:
        """See `algorithm_choice.Tuner`."""
        made = self._made.get((kernel, shapes))
        return made if made is not None else self._decided(kernel, shapes, default, trials())

    def save(self) -> None:
        """Put what was chosen since the last time into the bank."""
        if not self._new:
            return
        with self._lock:
            new, self._new = self._new, []
        if new and self._bank is not None:
            self._bank.put_all(new, self._repeats)

    def _decided(self, kernel: str, shapes: Hashable, default: str, trials: Mapping[str, Trial]) -> str:
        known = self._bank.get(kernel, repr(shapes)) if self._bank is not None and self._reads_bank else None
        if isinstance(known, str) and known in trials:
            with self._lock:
                self.n_known += (kernel, shapes) not in self._made
                return self._made.setdefault((kernel, shapes), known)
        if not self._searches:
            return self._made.setdefault((kernel, shapes), default)
        if self._left <= 0:
            return self._keep(kernel, shapes, default, default, 0.0, False)
        start = perf_counter()
        times = _times(default, trials)
        self._left -= perf_counter() - start
        best = min(times, key=times.__getitem__)
        found = best if times[best] < WORTH * times[default] else default
        return self._keep(kernel, shapes, default, found, times[default] - times[found], True)

    def _keep(self, kernel: str, shapes: Hashable, default: str, found: str, gained: float, is_tried: bool) -> str:
        with self._lock:
            if (kernel, shapes) not in self._made:
                self._made[kernel, shapes] = found
                self._new.append((kernel, repr(shapes), found))
                self.n_tried += is_tried
                self.n_late += not is_tried
                self.n_changed += found != default
                self.gained += gained
            return self._made[kernel, shapes]


def _times(default: str, trials: Mapping[str, Trial]) -> dict[str, float]:
    """Seconds of the algorithms that are as exact as the default, the shortest of each."""
    expected = np.array(trials[default]())  # a copy: all algorithms write to one place
    limit = TOLERANCE * float(np.abs(expected).max(initial=0.0))
    exact = [name for name, trial in trials.items() if name == default or _is_near(trial, expected, limit)]
    times = dict.fromkeys(exact, inf)
    end = perf_counter() + SECONDS_A_SHAPE
    between = np.ones(BETWEEN, np.float32)
    for number in range(ROUNDS):
        for name in exact:
            np.negative(between, out=between)
            times[name] = min(times[name], _seconds(trials[name]))
        if number >= FIRST_ROUNDS:
            exact = [name for name in exact if name == default or times[name] <= HOPELESS * min(times.values())]
        if len(exact) < 2 or perf_counter() > end:
            break
    return times


def _is_near(trial: Trial, expected: np.ndarray, limit: float) -> bool:
    """Whether an algorithm's result is so near; one that fails at these shapes is not."""
    try:
        return bool(np.abs(trial() - expected).max(initial=0.0) <= limit)
    except Exception:  # whatever it is, the default stays
        return False


def _seconds(trial: Trial) -> float:
    start = perf_counter()
    trial()
    return perf_counter() - start
