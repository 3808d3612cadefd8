"""Before: y = While(x; cond=c, body=b).  After: a loop frame of Enter, Merge, LoopCond, Switch, NextIteration and Exit.

Source: TensorFlow's lowering of functional loops (core/common_runtime/lower_while_op.cc).  What a loop never changes comes in
by a constant Enter; so the handle of a variable stays that of one variable.
"""

from __future__ import annotations

from typing import Any

from npu_runtime.graph.ir import Value
from npu_runtime.graph.ops import HANDLES
from npu_runtime.graph.spec import Spec
from npu_runtime.importers.tensorflow.inline_call import Expansion, inner_name
from npu_runtime.importers.tensorflow.lower_if import INDEX
from npu_runtime.importers.tensorflow.tensor_specs import import_spec

WHILES = frozenset({"While", "StatelessWhile"})


def variables(body: Any) -> list[int]:
    """Positions of the loop variables that the body changes."""
    return [i for i, t in enumerate(body.outputs) if _source(t) is not body.inputs[i]]


def _source(tensor: Any) -> Any:
    while tensor.op.type == "Identity":
        tensor = tensor.op.inputs[0]
    return tensor


def lower_while(expansion: Expansion) -> None:
    """The frame carries the call's name; sources of the test wait for a variable, those of the body for its pivot."""
    _Lowering(expansion).run()


class _Lowering:
    def __init__(self, expansion: Expansion) -> None:
        self.expansion, self.call = expansion, expansion.call
        self.specs = [self._spec(position) for position in range(len(self.call.inputs))]
        self.body = expansion.load(1, self.specs)
        self.changing = variables(self.body)

    def _spec(self, position: int) -> Spec:
        """Spec of a loop variable in every iteration; that of a handle is the spec of the variable behind it."""
        spec = self.call.outputs[position]
        return self.expansion.spec_of_input(position) if spec.dtype in HANDLES else spec

    def run(self) -> None:
        entered = [self._enter(position) for position in range(len(self.call.inputs))]
        values = list(entered)
        for position in self.changing:
            values[position] = self._merge(position, entered[position])
        condition = self._condition(values)
        switches = {i: self._switch(i, values[i], condition) for i in self.changing}
        effects = self._turn(values, switches)
        exits = {i: self._add(i, f"exit_{i}", "Exit", [switches[i]]) for i in self.changing}
        results = [exits.get(position, value) for position, value in enumerate(self.call.inputs)]
        self.expansion.finish(results, [value.node for value in exits.values()] if effects else [])

    def _add(self, position: int, tag: str, op: str, inputs: list[Value], **attrs: Any) -> Value:
        spec = self.specs[position]
        return self.expansion.add(tag, op, inputs, [spec], T=spec.dtype, **attrs)

    def _enter(self, position: int) -> Value:
        spec, attrs = self.specs[position], self.call.attrs
        return self.expansion.add(
            f"enter_{position}", "Enter", [self.call.inputs[position]], [spec], self.call.controls, T=spec.dtype,
            frame_name=self.call.name, is_constant=position not in self.changing,
            parallel_iterations=attrs.get("parallel_iterations") or 10,
        )  # fmt: skip

    def _merge(self, position: int, entered: Value) -> Value:
        spec = self.specs[position]
        inputs = [entered, Value(inner_name(self.call, f"lowered/next_{position}"))]
        return self.expansion.add(f"merge_{position}", "Merge", inputs, [spec, INDEX], T=spec.dtype, N=2)

    def _condition(self, values: list[Value]) -> Value:
        body = self.expansion.load(0, self.specs)
        (result,), effects = self.expansion.inline(body, "cond/", values, [values[self.changing[0]].node])
        (output,) = body.outputs
        truth = self.expansion.truth(result, import_spec(output), "truth")
        return self.expansion.add("condition", "LoopCond", [truth], [Spec((), "bool")], effects)

    def _switch(self, position: int, value: Value, condition: Value) -> Value:
        spec = self.specs[position]
        return self.expansion.add(f"switch_{position}", "Switch", [value, condition], [spec, spec], T=spec.dtype)

    def _turn(self, values: list[Value], switches: dict[int, Value]) -> list[str]:
        """The body and the way back; returns what has effects inside."""
        arguments = [Value(switches[i].node, 1) if i in switches else value for i, value in enumerate(values)]
        first = self.changing[0]
        pivot = self._add(first, "pivot", "Identity", [arguments[first]])
        results, effects = self.expansion.inline(self.body, "body/", arguments, [pivot.node])
        for position in self.changing:
            spec = self.specs[position]
            self.expansion.add(f"next_{position}", "NextIteration", [results[position]], [spec], effects, T=spec.dtype)
        return effects
