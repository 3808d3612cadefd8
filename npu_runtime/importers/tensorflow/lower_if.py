"""Before: y = If(p, x; then=f, else=g).  After: y = Merge(g(Switch(x, p):0), f(Switch(x, p):1)).

Source: TensorFlow's lowering of functional control flow (core/common_runtime/lower_if_op.cc and lower_case_op.cc).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from npu_runtime.graph.ir import Value
from npu_runtime.graph.ops import HANDLES
from npu_runtime.graph.spec import Spec
from npu_runtime.importers.tensorflow.inline_call import TRUTH, Expansion

IFS = frozenset({"If", "StatelessIf"})
CASES = frozenset({"Case", "StatelessCase"})
INDEX = Spec((), "int32")


@dataclass(frozen=True)
class _Branch:
    """Runs when `predicate` is true (side 1) or false (side 0).  function: its number among those of the call."""

    predicate: Value
    side: int
    tag: str
    function: int


def lower_if(expansion: Expansion) -> None:
    """Two branches on the two sides of one predicate."""
    call = expansion.call
    predicate = expansion.truth(call.inputs[0], expansion.spec_of_input(0), "predicate", call.controls)
    _lower(expansion, [_Branch(predicate, 0, "else", 1), _Branch(predicate, 1, "then", 0)])


def lower_case(expansion: Expansion) -> None:
    """A branch for each number; the last one for every other number too."""
    call, index = expansion.call, expansion.call.inputs[0]
    chosen: list[Value] = []
    for number in range(len(call.attrs["branches"]) - 1):
        value = np.array(number, np.int32)
        spec = Spec((), "int32", value)
        constant = expansion.add(f"number_{number}", "Const", [], [spec], expansion.waits, dtype="int32", value=value)
        chosen.append(expansion.add(f"is_{number}", "Equal", [index, constant], [TRUTH], T="int32"))
    found = [_Branch(predicate, 1, f"branch_{number}", number) for number, predicate in enumerate(chosen)]
    _lower(expansion, [*found, _last_branch(expansion, chosen)])


def _last_branch(expansion: Expansion, others: list[Value]) -> _Branch:
    """The one that runs when no other does."""
    number = len(others)
    if not others:
        always = np.array(True)
        spec = Spec((), "bool", always)
        return _Branch(
            expansion.add("always", "Const", [], [spec], expansion.waits, dtype="bool", value=always), 1, "branch_0", 0
        )
    any_other = others[0]
    for position, predicate in enumerate(others[1:]):
        any_other = expansion.add(f"any_{position}", "LogicalOr", [any_other, predicate], [TRUTH])
    return _Branch(any_other, 0, f"branch_{number}", number)


def _lower(expansion: Expansion, found: list[_Branch]) -> None:
    call = expansion.call
    specs = [expansion.spec_of_input(position) for position in range(1, len(call.inputs))]
    switches = _Switches(expansion)
    results, ends, has_effects = [], [], False
    for branch in found:
        pivot = switches.pivot(branch)
        arguments = [switches.side(branch, position, spec) for position, spec in enumerate(specs, 1)]
        body = expansion.load(branch.function, specs)
        made, effects = expansion.inline(body, f"{branch.tag}/", arguments, [pivot.node])
        results.append(made)
        has_effects = has_effects or bool(effects)
        ends.append(expansion.add(f"{branch.tag}_end", "Identity", [pivot], [TRUTH], effects, T="bool"))
    merged = [_merge(expansion, f"merge_{index}", list(values)) for index, values in enumerate(zip(*results, strict=True))]
    executed = [_merge(expansion, "executed", ends).node] if has_effects else []
    expansion.finish(merged, executed)


def _merge(expansion: Expansion, tag: str, values: list[Value]) -> Value:
    index = int(tag.removeprefix("merge_")) if tag != "executed" else -1
    spec = TRUTH if index < 0 else expansion.call.outputs[index]
    if spec.dtype in HANDLES:
        spec = expansion.spec(values[0], spec)
    return expansion.add(tag, "Merge", values, [spec, INDEX], T=spec.dtype, N=len(values))


class _Switches:
    """The Switch nodes of one call, each made once."""

    def __init__(self, expansion: Expansion) -> None:
        self._expansion = expansion
        self._made: dict[tuple[Value, int], Value] = {}

    def side(self, branch: _Branch, position: int, spec: Spec) -> Value:
        """An input of the call as the branch sees it; position 0: the predicate."""
        key = branch.predicate, position
        if key not in self._made:
            call = self._expansion.call
            source = call.inputs[position] if position else branch.predicate
            tag = f"switch_{position}_{len(self._made)}"
            inputs = [source, branch.predicate]
            self._made[key] = self._expansion.add(tag, "Switch", inputs, [spec, spec], call.controls, T=spec.dtype)
        return Value(self._made[key].node, branch.side)

    def pivot(self, branch: _Branch) -> Value:
        """A new Identity node that is alive when the branch is taken; returns its output."""
        return self._expansion.add(f"{branch.tag}_pivot", "Identity", [self.side(branch, 0, TRUTH)], [TRUTH], T="bool")
