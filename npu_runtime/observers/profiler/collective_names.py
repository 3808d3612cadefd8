"""Names of the executions of collectives: the vendor's tools tell those of one operator apart by numbers behind its name."""

from __future__ import annotations

from collections import Counter

from npu_runtime.observers.profiler.device_log import DeviceLog, NumberedTask
from npu_runtime.observers.profiler.raw.communication import GROUP
from npu_runtime.observers.profiler.raw.names import Names

_N_DIGITS = 3
"""Digits of the group's number that a name has. Source: the vendor's parser, hccl_calculator.py."""


class CollectiveNames:
    """Operator, end of the group's number, place of the operator among all collectives, and number of the execution."""

    def __init__(self, log: DeviceLog) -> None:
        numbered = (entry for model in log.models for entry in model.tasks if entry.is_collective)
        self._places = {id(entry): place for place, entry in enumerate(numbered)}
        self._group = str(Names().of(GROUP))[-_N_DIGITS:]
        self._executions: Counter[int] = Counter()

    def next_name(self, numbered: NumberedTask) -> str:
        """The name of the next execution of a collective."""
        key = id(numbered)
        self._executions[key] += 1
        return f"{numbered.task.name}_{self._group}_{self._places[key]}_{self._executions[key]}"
