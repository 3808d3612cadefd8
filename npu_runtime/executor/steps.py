"""One step of a program: a kernel launch or a host call, with or without branches that may be dead."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from sys import getrefcount
from typing import Any

import numpy as np

from npu_runtime.device import float_status
from npu_runtime.device.variable import Variable
from npu_runtime.errors import MISFITS, DeviceError, InvalidArgument, ResourceExhausted
from npu_runtime.executor.program import DEAD, HostStep, Task
from npu_runtime.graph.ops import MERGES
from npu_runtime.kernels.shapes import broadcast_pair

LARGE = 1 << 14
"""Elements from which on new memory costs more than asking whether it is needed."""
SLOT_ONLY = 3
"""References that `getrefcount` counts to what one slot holds: its own argument and the local name that is asked for too."""


def run_step(function: Callable[..., Any], step: Task | HostStep, slots: list[Any]) -> None:
    if isinstance(step, HostStep):
        results = function([_copied(slots[i]) for i in step.ins])
        for slot, value in zip(step.outs, results, strict=True):
            slots[slot] = _as_array(value)
    else:
        launch(function, step, inputs_of(step, slots), slots)
    for slot in step.frees:
        slots[slot] = None


def inputs_of(task: Task, slots: list[Any]) -> list[Any]:
    """The inputs of the task's kernel.  Raises: FailedPrecondition for a variable without a value."""
    inputs = [slots[i] for i in task.ins]
    for position in task.derefs:
        if inputs[position] is not DEAD:  # a Merge has one from the branch that was not taken
            inputs[position] = inputs[position].read()
    return inputs


def launch(function: Callable[..., Any], task: Task, inputs: list[Any], slots: list[Any]) -> None:
    """Run a kernel; its results go to the slots of the task.  Raises: DeviceError, as a misfit of shapes or
    too little memory is for TensorFlow.
    """
    try:
        result = function(*inputs)
    except FAILURES as error:
        raise told(error, inputs) from error
    if len(task.outs) == 1:
        slots[task.outs[0]] = result[0] if type(result) is tuple else result  # ops with a list of outputs, here of one
    else:
        for slot, value in zip(task.outs, result or (), strict=True):
            slots[slot] = value
    if float_status.saturates():
        for slot in task.outs:
            slots[slot] = float_status.saturated(slots[slot], task.node)


def prepared(function: Callable[..., Any], task: Task | HostStep) -> Callable[[list[Any]], None]:
    """`run_step` of a step that cannot be dead, in infinity mode, made once: asking what a step is takes as long as a small one.

    What the kernel raises goes to the caller as it is; see FAILURES and `told`.
    """
    if isinstance(task, HostStep):
        return lambda slots: run_step(function, task, slots)
    if len(task.outs) != 1:
        return _of_none_or_several(function, task)
    ins, frees, out = task.ins, task.frees, task.outs[0]
    if task.derefs:
        return _reading_variables(function, task)
    if len(ins) == 2 and task.spent:
        return _over_an_input(function, task)
    first, last = ins[0] if ins else -1, ins[-1] if ins else -1

    def run_unary(slots: list[Any]) -> None:
        result = function(slots[first])
        slots[out] = result[0] if type(result) is tuple else result
        for slot in frees:
            slots[slot] = None

    def run_binary(slots: list[Any]) -> None:
        result = function(slots[first], slots[last])
        slots[out] = result[0] if type(result) is tuple else result
        for slot in frees:
            slots[slot] = None

    def run_any(slots: list[Any]) -> None:
        result = function(*[slots[i] for i in ins])
        slots[out] = result[0] if type(result) is tuple else result
        for slot in frees:
            slots[slot] = None

    return {1: run_unary, 2: run_binary}.get(len(ins), run_any)


def _of_none_or_several(function: Callable[..., Any], task: Task) -> Callable[[list[Any]], None]:
    """A task without an output, as an update of a variable, or with several."""
    ins, derefs, frees, outs = task.ins, task.derefs, task.frees, task.outs

    def run(slots: list[Any]) -> None:
        inputs = [slots[i] for i in ins]
        for position in derefs:
            inputs[position] = inputs[position].read()
        result = function(*inputs)
        if outs:
            for slot, value in zip(outs, result, strict=True):
                slots[slot] = value
        for slot in frees:
            slots[slot] = None

    return run


def _reading_variables(function: Callable[..., Any], task: Task) -> Callable[[list[Any]], None]:
    ins, derefs, frees, out = task.ins, task.derefs, task.frees, task.outs[0]

    def run(slots: list[Any]) -> None:
        inputs = [slots[i] for i in ins]
        for position in derefs:
            inputs[position] = inputs[position].read()
        result = function(*inputs)
        slots[out] = result[0] if type(result) is tuple else result
        for slot in frees:
            slots[slot] = None

    return run


def _over_an_input(function: Callable[..., Any], task: Task) -> Callable[[list[Any]], None]:
    """A task of two inputs whose result goes into the memory of a large one that nobody else has.

    So what a loop adds up, as the gradient of a matrix, stays where it is: new memory for each sum takes twice as long as adding.
    Only the slot refers to such an array: not a stack, not whoever started the loop, not a view.
    """
    (first, last), (out,), frees = task.ins, task.outs, task.frees
    is_first, is_last = 0 in task.spent, 1 in task.spent

    def run(slots: list[Any]) -> None:
        a, b = slots[first], slots[last]
        if a.size < LARGE or a.shape != b.shape:
            slots[out] = function(a, b)
        elif is_first and getrefcount(a) == SLOT_ONLY and a.flags.owndata:
            slots[out] = function(a, b, out=a)
        elif is_last and getrefcount(b) == SLOT_ONLY and b.flags.owndata:
            slots[out] = function(a, b, out=b)
        else:
            slots[out] = function(a, b)
        for slot in frees:
            slots[slot] = None

    return run


FAILURES = (MemoryError, *MISFITS)
"""Errors that a kernel may raise beside DeviceError."""


def told(error: Exception, inputs: Sequence[Any]) -> DeviceError:
    """The error as TensorFlow names it.  error: of FAILURES, raised by a kernel that was given the inputs."""
    if isinstance(error, MemoryError):
        return ResourceExhausted(f"this machine has not the memory: {error}; use a smaller batch")
    arrays = [value.read() if isinstance(value, Variable) and value.is_initialized else value for value in inputs]
    if len(arrays) == 2 and "broadcast" in str(error):  # numpy's word, where an output of known shape was to be filled
        try:
            broadcast_pair(np.shape(arrays[0]), np.shape(arrays[1]))
        except InvalidArgument as misfit:
            return misfit
    return InvalidArgument(f"the kernel cannot take {_described(arrays)}: {error}")


def _described(arrays: Sequence[Any]) -> str:
    """Types and shapes for a message."""
    return ", ".join(f"{x.dtype}{list(x.shape)}" if isinstance(x, np.ndarray) else type(x).__name__ for x in arrays)


def _copied(value: Any) -> np.ndarray:
    """A copy of a value for a host call; that of a variable is taken between two updates."""
    if not isinstance(value, Variable):
        return np.array(value)
    with value.lock:
        return np.array(value.read())


def _as_array(value: Any) -> np.ndarray:
    """The result of a host call as an array.  numpy would cut the trailing zero bytes of a text scalar, so it stays an object."""
    return np.array(value, object) if isinstance(value, bytes | str) else np.asarray(value)


def run_step_with_branches(function: Callable[..., Any], step: Task | HostStep, slots: list[Any]) -> None:
    """Run a step as `run_step` does, but a step with a dead input does not run and makes its outputs dead."""
    dead = _is_dead(step, slots)
    if dead:
        for slot in step.outs:
            slots[slot] = DEAD
        for slot in step.frees:
            slots[slot] = None
    else:
        run_step(function, step, slots)
    if isinstance(step, HostStep):
        for token in step.tokens:
            slots[token] = DEAD if dead else None
    elif step.token >= 0:
        slots[step.token] = DEAD if dead else None


def _is_dead(step: Task | HostStep, slots: list[Any]) -> bool:
    """Whether what it waits for is dead; a Merge is where all that it may take are, whatever it waits for.

    Loops, because `any` takes longer than some kernels.
    """
    if isinstance(step, Task) and step.op in MERGES:
        for slot in step.ins:  # noqa: SIM110  as above
            if slots[slot] is not DEAD:
                return False
        return True
    for slot in step.controls:
        if slots[slot] is DEAD:
            return True
    for slot in step.ins:  # noqa: SIM110  as above
        if slots[slot] is DEAD:
            return True
    return False
