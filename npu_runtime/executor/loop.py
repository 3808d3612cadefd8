"""A while loop as one task: the body's program runs as often as the condition holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from npu_runtime.device import float_status
from npu_runtime.errors import DeviceError
from npu_runtime.executor.loop_lists import OpenList, OpenLists, Run, open_lists
from npu_runtime.executor.program import Program, Task
from npu_runtime.executor.steps import FAILURES, prepared, run_step, run_step_with_branches, told
from npu_runtime.executor.switch_merge import is_true
from npu_runtime.executor.task_observers import observed, tell_failure
from npu_runtime.executor.watch import current
from npu_runtime.graph.ir import Value
from npu_runtime.graph.ops import Loop, Turns
from npu_runtime.interrupts import current as current_interrupts

_Steps = list[tuple[Callable[[list[Any]], None], Task]]


class LoopRunner:
    """Callable with the values that enter; returns those that leave.

    loop: the parts.  program: one iteration, the steps of the test first.  slots: of the body's values.  flops: floating-point
    operations of the last call.  turns: iterations of the last call.
    """

    def __init__(self, loop: Loop, program: Program, slots: Mapping[Value, int]) -> None:
        self.program = program
        self.flops = 0.0
        self.turns = 0
        self._constants = [(position, slots[Value(name)]) for position, name in loop.constants.items()]
        self._variables = [(position, slots[Value(name)]) for position, name in loop.variables.items()]
        self._moves = [(slots[Value(name)], slots[value]) for name, value in loop.next_values.items()]
        self._results = [slots[Value(name)] for name in loop.results]
        self._condition = slots[loop.condition]
        steps = [step for step in program.steps if isinstance(step, Task)]
        self._open = OpenLists((), {}) if program.has_branches else open_lists(steps, dict(self._moves), self._condition)
        self._test = _Part([step for step in steps if step.node not in loop.body], program.has_branches, self._open.runs)
        self._body = _Part([step for step in steps if step.node in loop.body], program.has_branches, self._open.runs)
        self._plain_moves = [(slot, source) for slot, source in self._moves if slot not in self._open.slots]
        made = {slot for step in steps if step.node in loop.body for slot in step.outs}
        self._moved = [source for _, source in self._moves if source in made]

    def __call__(self, *inputs: Any) -> tuple[Any, ...]:
        slots = list(self.program.template)
        for position, slot in (*self._constants, *self._variables):
            slots[slot] = inputs[position]
        self.flops, self.turns = 0.0, 0
        test, body = self._test.steps(), self._body.steps()  # how they are run does not change while the loop runs
        opened = self._open.slots if self._body.is_prepared(body) and self._test.is_prepared(test) else ()
        moves = self._plain_moves if opened else self._moves
        for slot in opened:
            slots[slot] = OpenList(slots[slot])
        self._run(self._test, test, slots)
        watch = current()
        while is_true(slots[self._condition]):
            if watch is not None:
                watch.check()
            self._run(self._body, body, slots)
            self.turns += 1
            self._carry(slots, moves)
            self._run(self._test, test, slots)
        for slot in opened:
            slots[slot] = slots[slot].closed()
        return tuple(slots[slot] for slot in self._results)

    def _carry(self, slots: list[Any], moves: Sequence[tuple[int, int]]) -> None:
        """The next values become the variables' own; no other slot holds them then."""
        carried = [slots[source] for _, source in moves]
        for slot in self._moved:
            slots[slot] = None
        for (slot, _), value in zip(moves, carried, strict=True):
            slots[slot] = value

    def _run(self, part: _Part, steps: _Steps, slots: list[Any]) -> None:
        _run_steps(steps, slots)
        self.flops += part.flops
        for loop in part.loops:
            self.flops += loop.flops


class _Part:
    """The test or the body.  flops: floating-point operations of its steps but its loops.  loops: of its steps."""

    def __init__(self, steps: list[Task], has_branches: bool, runs: Mapping[str, Run]) -> None:
        """runs: how to run some of the steps that are made ready, by node."""
        self.loops: list[LoopRunner | Turns] = [step.function for step in steps if isinstance(step.function, LoopRunner)]
        self.loops += [step.turns for step in steps if step.turns is not None]
        self.flops = sum(step.flops for step in steps if not isinstance(step.function, LoopRunner))
        self._steps = steps
        self._plain = run_step_with_branches if has_branches else run_step
        self._prepared: _Steps = [
            (partial(run_step_with_branches, step.function, step) if step.may_see_dead
             else runs.get(step.node) or prepared(step.function, step), step)
            for step in steps
        ]  # fmt: skip

    def is_prepared(self, steps: _Steps) -> bool:
        """Whether these are the steps that were made ready."""
        return steps is self._prepared

    def steps(self) -> _Steps:
        """The steps with how they are to be run now: searched for NaN, or with what overflows cut, or as fast as can be."""
        run_one = observed(self._plain)
        if run_one is not self._plain or float_status.saturates():
            return [(partial(run_one, step.function, step), step) for step in self._steps]
        return self._prepared


def _run_steps(steps: _Steps, slots: list[Any]) -> None:
    """Raises: DeviceError with the node where it happened."""
    interrupts = current_interrupts()
    for run, step in steps:
        try:
            run(slots)
        except DeviceError as error:
            tell_failure(step, slots)
            raise error.at(step.node, step.op) from error.__cause__
        except FAILURES as error:
            tell_failure(step, slots)
            raise told(error, [slots[i] for i in step.ins]).at(step.node, step.op) from error
        if interrupts.pending:
            interrupts.deliver()


def turns_of(program: Program) -> dict[str, int]:
    """Iterations of the last call of each loop of a program, by node; of a loop inside of another its last call."""
    found = {}
    for step in program.steps:
        if isinstance(step, Task) and step.turns is not None:
            found[step.node] = step.turns.count
        if isinstance(step, Task) and isinstance(step.function, LoopRunner):
            found[step.node] = step.function.turns
            found.update(turns_of(step.function.program))
    return found
