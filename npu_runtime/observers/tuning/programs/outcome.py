"""The outcome of tuning for one operator, and for all that share its key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from npu_formats.device.chip import Chip
from npu_runtime.cost.choice import Choice
from npu_runtime.cost.core_task import CoreWork
from npu_runtime.lowering.lower import LoweredTask
from npu_runtime.observers.tuning.programs.rules import Decision


class Found(Protocol):
    """The result of a search: the best choice, microseconds with it and with the default one, the best microseconds after each
    round, and the number of costs that were asked for."""

    @property
    def choice(self) -> Choice: ...
    @property
    def us(self) -> float: ...
    @property
    def default_us(self) -> float: ...
    @property
    def rounds(self) -> tuple[float, ...]: ...
    @property
    def evaluations(self) -> int: ...


class Search(Protocol):
    """Searches works for a chip by a mode, in parallel, for so many seconds; None where time did not suffice or the mode has no
    search for the work.  effort: so many times the usual number of choices."""

    def __call__(
        self, works: Sequence[CoreWork], chip: Chip, mode: str, workers: int, seconds: float | None, effort: int
    ) -> Sequence[Found | None]: ...


@dataclass
class Outcome:
    """decision: by the rules.  choice: what the operator is compiled with, None for the default.  default_us, before_us,
    after_us: microseconds of the default, of what was used before, and of what is used now.  rounds: the best after each, with
    the time when it was known.  is_late: whether time did not suffice.  operators: members of each that shares the key, in order
    of appearance.  name, op_type: of the first.
    """

    name: str
    op_type: str
    decision: Decision
    choice: Choice | None
    default_us: float
    before_us: float
    after_us: float
    rounds: tuple[tuple[float, str], ...] = ()
    is_late: bool = False
    operators: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def add(self, task: LoweredTask) -> None:
        """One more operator with this key."""
        members = dict.fromkeys(member for op in task.ops for member in op.members)
        self.operators.setdefault(task.name, tuple(members))


def is_shown(before_us: float, after_us: float) -> bool:
    """Whether a gain shows in per cent with two decimals."""
    return before_us > 0 and round(100 * (before_us - after_us) / before_us, 2) > 0
