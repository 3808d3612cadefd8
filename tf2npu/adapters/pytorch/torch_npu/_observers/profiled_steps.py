"""The steps of a process on the simulated clocks of the devices that it uses, for profiles."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from npu_formats.user_frames import calling_frames
from npu_runtime.importers.pytorch.operator_call import OperatorCall
from npu_runtime.simulation.eager_device import EagerDevice, HostCall

from .._device import dispatch
from .._device.chip import chip_of_run
from .._device.memory import POOLS
from .step_recorder import call_of

MOST_CALLS = 20_000
"""Calls that are kept before a step is cut in two: a script that only evaluates has no steps."""


class ProfiledSteps:
    """devices: by number, those that ran something.  n_steps: that each has run."""

    def __init__(self) -> None:
        self.devices: dict[int, EagerDevice] = {}
        self.n_steps: dict[int, int] = {}

    def step(self, calls: Sequence[HostCall], n_before_update: int | None = None) -> None:
        """Run the calls of a step, each on its device.  n_before_update: of them, before the optimizer."""
        for index in sorted({call.operator.device for call in calls}):
            own = [at for at, call in enumerate(calls) if call.operator.device == index]
            before = None if n_before_update is None else sum(at < n_before_update for at in own)
            self._device(index).step([calls[at] for at in own], before)
            self.n_steps[index] += 1

    def _device(self, index: int) -> EagerDevice:
        if index not in self.devices:
            n_ranks = number_in_environment("WORLD_SIZE", 1)
            rank = number_in_environment("RANK", 0) if n_ranks > 1 else -1
            self.devices[index] = EagerDevice(chip_of_run(), index, rank, n_ranks)
            self.n_steps[index] = 0
        return self.devices[index]


class CallWindow:
    """The calls between two moments, cut into the script's steps.  step_ids: for each step of a device, the script's number.

    with_stack, with_memory: whether each call is kept with its frames, and with the bytes in use behind it.
    """

    def __init__(self, *, with_stack: bool = False, with_memory: bool = False) -> None:
        self.steps = ProfiledSteps()
        self.step_ids: dict[int, list[int]] = {}
        self.step = 0
        self._with_stack, self._with_memory = with_stack, with_memory
        self._calls: list[HostCall] = []

    def begin(self) -> None:
        """Take part in all operators from here on."""
        dispatch.OBSERVERS.append(self._observe)

    def end(self) -> None:
        """Take part no longer; what is at hand is a step."""
        dispatch.OBSERVERS.remove(self._observe)
        self.end_step()

    def end_step(self) -> None:
        """End a step of the script, whose number is `step`."""
        calls, self._calls = self._calls, []
        before = dict(self.steps.n_steps)
        self.steps.step(calls)
        for index, n_steps in self.steps.n_steps.items():
            self.step_ids.setdefault(index, []).extend([self.step] * (n_steps - before.get(index, 0)))

    def _observe(self, operator: Any, args: tuple, kwargs: dict[str, Any], result: Any, index: int) -> None:
        call = call_of(operator, args, kwargs, result, index)
        stack, n_bytes = calling_frames() if self._with_stack else "", POOLS[index].live if self._with_memory else -1
        self._calls.append(HostCall(call, stack, n_bytes))
        if len(self._calls) == MOST_CALLS:
            self.end_step()


def host_calls(calls: Sequence[OperatorCall]) -> list[HostCall]:
    """Calls without their frames."""
    return [HostCall(call) for call in calls]


def number_in_environment(name: str, default: int) -> int:
    """A whole number that a launcher has left in a variable."""
    text = os.environ.get(name, "")
    return int(text) if text.isdecimal() else default
