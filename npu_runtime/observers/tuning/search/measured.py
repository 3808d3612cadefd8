"""Times of the choices that a search has tried, within its budget."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from npu_runtime.observers.tuning.search.found import Choice, Found, IsOutOfTime

One = TypeVar("One", bound=Choice)


class Measured(Generic[One]):
    """Each choice is costed once, as long as there are evaluations and time left.

    best: the fastest so far, of equals the first.  is_over: whether something was asked for that could not be costed any more.
    """

    def __init__(self, cost_us: Callable[[One], float], default: One, most: int, is_out_of_time: IsOutOfTime) -> None:
        """default: costed first, whatever the budget."""
        self._cost_us, self._default, self._most, self._is_out_of_time = cost_us, default, most, is_out_of_time
        self._us: dict[Hashable, float] = {default: cost_us(default)}
        self._rounds: list[float] = []
        self.best = default
        self.is_over = False

    @property
    def best_us(self) -> float:
        """Time of the fastest, microseconds."""
        return self._us[self.best]

    def us_of(self, choice: One) -> float | None:
        """Microseconds; None when one more may not be costed."""
        if choice in self._us:
            return self._us[choice]
        if len(self._us) >= self._most or self._is_out_of_time():
            self.is_over = True
            return None
        us = self._us[choice] = self._cost_us(choice)
        if us < self.best_us:
            self.best = choice
        return us

    def end_round(self) -> None:
        """Notes the best time so far as that of a round."""
        self._rounds.append(self.best_us)

    def found(self) -> Found:
        """The result of a search that has ended; it has one round at least."""
        if not self._rounds:
            self.end_round()
        return Found(self.best, self.best_us, self._us[self._default], tuple(self._rounds), len(self._us))
