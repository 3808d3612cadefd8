"""A while loop as one task: the body's program runs as often as the condition holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from npu_runtime.errors import DeviceError
from npu_runtime.executor.nan_tracking import tracked
from npu_runtime.executor.program import Program, Task
from npu_runtime.executor.steps import run_step, run_step_with_branches
from npu_runtime.executor.watch import current
from npu_runtime.graph.ir import Value
from npu_runtime.interrupts import current as current_interrupts
from npu_runtime.passes.lift_loops import Loop


class LoopRunner:
    """Callable with the values that enter; returns those that leave.

    loop: the parts.  program: one iteration, the steps of the test first.  slots: of the body's values.  flops: floating-point
    operations of the last call.
    """

    def __init__(self, loop: Loop, program: Program, slots: Mapping[Value, int]) -> None:
        self.program = program
        self.flops = 0.0
        self._constants = [(position, slots[Value(name)]) for position, name in loop.constants.items()]
        self._variables = [(position, slots[Value(name)]) for position, name in loop.variables.items()]
        self._moves = [(slots[Value(name)], slots[value]) for name, value in loop.next_values.items()]
        self._results = [slots[Value(name)] for name in loop.results]
        self._condition = slots[loop.condition]
        self._test = [step for step in program.steps if isinstance(step, Task) and step.node not in loop.body]
        self._body = [step for step in program.steps if isinstance(step, Task) and step.node in loop.body]

    def __call__(self, *inputs: Any) -> tuple[Any, ...]:
        slots = list(self.program.template)
        for position, slot in (*self._constants, *self._variables):
            slots[slot] = inputs[position]
        self.flops = 0.0
        self._run(self._test, slots)
        watch = current()
        while slots[self._condition]:
            if watch is not None:
                watch.check()
            self._run(self._body, slots)
            carried = [slots[source] for _, source in self._moves]
            for (slot, _), value in zip(self._moves, carried, strict=True):
                slots[slot] = value
            self._run(self._test, slots)
        return tuple(slots[slot] for slot in self._results)

    def _run(self, steps: list[Task], slots: list[Any]) -> None:
        run = tracked(run_step_with_branches if self.program.has_branches else run_step)
        interrupts = current_interrupts()
        for step in steps:
            try:
                run(step.function, step, slots)
            except DeviceError as error:
                raise error.at(step.node, step.op) from error.__cause__
            if interrupts.pending:
                interrupts.deliver()
            self.flops += step.function.flops if isinstance(step.function, LoopRunner) else step.flops
