"""Lists that a loop only pushes to, or only pops from, kept open while it runs: no list is made in each turn.

The gradient of a loop of TensorFlow 2 pops a dozen lists in each turn, which the loop itself has pushed; as values, which every
change makes anew, they take a third of the time of an LSTM.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from npu_runtime.errors import InvalidArgument
from npu_runtime.executor.program import Task
from npu_runtime.kernels.control.tensor_array import kept
from npu_runtime.kernels.control.tensor_list import TensorList

PUSH, POP = "TensorListPushBack", "TensorListPopBack"
Run = Callable[[list[Any]], None]


class OpenList:
    """The elements of a list while a loop runs.  handle: the list as it was."""

    __slots__ = ("handle", "values")

    def __init__(self, handle: TensorList) -> None:
        self.handle, self.values = handle, list(handle.values)

    def closed(self) -> TensorList:
        """The list as it is now."""
        return self.handle.having(tuple(self.values))


class OpenLists(NamedTuple):
    """slots: of variables that hold an open list while the loop runs.  runs: how to run the steps that change one, by node."""

    slots: tuple[int, ...]
    runs: dict[str, Run]


def open_lists(steps: Sequence[Task], moves: Mapping[int, int], condition: int) -> OpenLists:
    """The lists of a loop that one step changes and nobody else sees.

    moves: the next value of each variable, by slots.  condition: the slot of the test's result.
    """
    readers = Counter(slot for step in steps for slot in (*step.ins, *step.controls)) + Counter([*moves.values(), condition])
    slots, runs = [], {}
    for step in steps:
        if step.op not in (PUSH, POP) or step.may_see_dead or step.derefs or step.token >= 0:
            continue
        variable, made = step.ins[0], step.outs[0]
        if moves.get(variable) == made and readers[variable] == 1 and readers[made] == 1:
            slots.append(variable)
            runs[step.node] = _pushed(step) if step.op == PUSH else _popped(step)
    return OpenLists(tuple(slots), runs)


def _pushed(step: Task) -> Run:
    (variable, item), frees = step.ins, _others(step)

    def run(slots: list[Any]) -> None:
        given, value = slots[variable], slots[item]
        handle = given.handle
        if 0 <= handle.limit <= len(given.values) or not handle.takes(value):
            step.function(given.closed(), value)  # which raises
        given.values.append(kept(value))
        for slot in frees:
            slots[slot] = None

    return run


def _popped(step: Task) -> Run:
    (variable, shape), element, frees = step.ins, step.outs[1], _others(step)

    def run(slots: list[Any]) -> None:
        given = slots[variable]
        if not given.values:
            raise InvalidArgument("Trying to pop from an empty list.")
        value = given.values[-1]
        slots[element] = step.function(given.closed(), slots[shape])[1] if value is None else value
        del given.values[-1]
        for slot in frees:
            slots[slot] = None

    return run


def _others(step: Task) -> tuple[int, ...]:
    return tuple(slot for slot in step.frees if slot not in (step.ins[0], step.outs[0]))
