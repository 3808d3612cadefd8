"""The schedule of a profile: what is done in which step."""

from __future__ import annotations

from enum import Enum

from .messages import warn


class ProfilerAction(Enum):
    """The work of the profiler in a step. RECORD_AND_SAVE is the last step of a cycle."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


class Schedule:
    """Cycles of wait, warmup and active steps, behind skip_first steps.

    repeat: cycles, 0 for as many as the script has steps for.  skip_first_wait: not 0 for a first cycle that does not wait.
    A number that cannot be meant is told, and its default taken.
    """

    def __init__(
        self, wait: int, active: int, warmup: int = 0, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0
    ) -> None:  # fmt: skip
        self.wait = _at_least("wait", wait, 0)
        self.active = _at_least("active", active, 1)
        self.warmup = _at_least("warmup", warmup, 0)
        self.repeat = _at_least("repeat", repeat, 0)
        self.skip_first = _at_least("skip_first", skip_first, 0)
        self.skip_first_wait = skip_first_wait if isinstance(skip_first_wait, int) else 0

    def __call__(self, step: int) -> ProfilerAction:
        """The action of a step, from 0.  Raises: ValueError for a negative one."""
        if step < 0:
            raise ValueError(f"a step is 0 or more, got {step}")
        if step < self.skip_first:
            return ProfilerAction.NONE
        at = step - self.skip_first + (self.wait if self.skip_first_wait else 0)
        length = self.wait + self.warmup + self.active
        if self.repeat and at >= self.repeat * length:
            return ProfilerAction.NONE
        return self._within(at % length, length)

    def _within(self, at: int, length: int) -> ProfilerAction:
        if at < self.wait:
            return ProfilerAction.NONE
        if at < self.wait + self.warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD_AND_SAVE if at == length - 1 else ProfilerAction.RECORD


def _at_least(name: str, value: object, least: int) -> int:
    if isinstance(value, int) and value >= least:
        return value
    warn(f"schedule: {name} must be a whole number of at least {least}, got {value!r}; {least} is taken")
    return least


def always(step: int) -> ProfilerAction:
    """The schedule of a profile without one: all is recorded."""
    return ProfilerAction.RECORD
