"""Ops and numbers that the loops of a known cell and of its gradients may have, so that a few random turns tell all they compute.

A script may change a gradient: clip it, drop it where it is no number, or in every fourth turn. A random turn does not have to
meet such a side. So nothing here may choose by a gradient or by the number of the turn: only the lengths of sequences and the
bounds of the hard sigmoid decide, and trials reach all of their sides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from npu_runtime.analysis.gate_sums import GateSums
from npu_runtime.analysis.sequence_loops import SequenceLoop, origin
from npu_runtime.graph.ir import Node, Value
from npu_runtime.graph.ops import CONSTANT, LOOP_INPUT
from npu_runtime.passes.fuse.recurrent_cells import SELECTS, Found
from npu_runtime.passes.fuse.recurrent_trials import ANALYTIC, PLAIN_NUMBERS, has_only, is_smooth, varies

_SERVING = frozenset({
    LOOP_INPUT, "Const", CONSTANT, "ControlTrigger", "Identity", "NoOp", "ReadVariableOp", "StackCloseV2", "StackPopV2",
    "StackPushV2", "TensorArrayGradV3", "TensorArrayReadV3", "TensorArrayWriteV3",
})  # fmt: skip
"""Ops that only hand values on."""
_COMPARISONS = frozenset({"Greater", "GreaterEqual", "Less", "LessEqual"})
"""Comparisons by which the gradients of Minimum and Maximum find the operand that was taken. Source: TensorFlow's
math_grad.py."""
_BOUNDING = frozenset({"Maximum", "Minimum"})
"""Ops that bound the hard sigmoid of the forward loop."""
_HARD_BOUNDS = (0.0, 1.0)
"""The bounds of the hard sigmoid."""


@dataclass
class RecurrentOps:
    """Judges one loop of a cell that has gradients.

    loop: the forward one or that of gradients.  forward: the loop of the cell.  found: the cell.  pushed: what the forward loop
    puts on each stack, in its body.
    """

    loop: SequenceLoop
    forward: SequenceLoop
    found: Found
    pushed: Mapping[Value, Value]

    def __post_init__(self) -> None:
        self.body = self.loop.body
        self.sums = GateSums(self.loop, {})
        self.numbers = PLAIN_NUMBERS | {abs(gate.offset) for gate in self.found.cell.gates}
        self.counting = {origin(self.body, self.loop.loop.condition).node}
        self.counting |= {self.loop.next_of(name).node for name in self.loop.counters}

    def are_known(self) -> bool:
        """Whether random turns can tell what the loop computes."""
        if not is_smooth(self.loop, self.numbers) or not all(map(self._is_known, self.body)):
            return False
        return all(self._is_known_outside(self.loop.node.inputs[position]) for position in self.loop.loop.constants)

    def _is_known(self, node: Node) -> bool:
        if node.op in _SERVING or node.name in self.counting:
            return True
        if any(spec.dtype != "float32" for spec in node.outputs):
            return self.loop is self.forward or self._is_mask(node) or self.sums.is_fixed(Value(node.name))
        operands = node.inputs
        if node.op in SELECTS:
            if not self._is_mask(self.body[origin(self.body, operands[0]).node]):
                return False
            operands = operands[1:]
        elif node.op in _BOUNDING and self.loop is self.forward:
            return self.found.cell.is_hard and any(map(self._is_bound, operands))
        elif node.op not in ANALYTIC:
            return False
        return all(self.body.spec(value).dtype == "float32" or self.sums.is_fixed(value) for value in operands)

    def _is_known_outside(self, value: Value) -> bool:
        """Whether a number from outside is one of a known cell, or a weight of this one that a trial can draw."""
        spec = self.loop.outer.spec(value)
        if spec.dtype != "float32" or spec.value is None:
            return True
        if value in self.found.weights:
            return varies(spec.value)
        return has_only(spec.value, self.numbers)

    def _is_mask(self, node: Node) -> bool:
        """Whether it tells which rows have ended, or which side of the hard sigmoid a value of the forward loop is on."""
        if node.op == "StackPopV2":
            popped = self._popped(node)
            return popped is not None and self._tests_length(self.forward, self.forward.body[popped.node])
        if self._tests_length(self.loop, node):
            return True
        if node.op not in _COMPARISONS or not self.found.cell.is_hard:
            return False
        a, b = node.inputs
        return (self._is_bounded(a) and self._is_bound(b)) or (self._is_bounded(b) and self._is_bound(a))

    def _is_bounded(self, value: Value) -> bool:
        """Whether a value in the loop of gradients is one that the forward loop bounds."""
        node = self.body[origin(self.body, value).node]
        popped = self._popped(node) if node.op == "StackPopV2" else None
        body = self.forward.body
        return popped is not None and any(
            popped in [origin(body, operand) for operand in other.inputs] for other in body if other.op in _BOUNDING
        )

    def _popped(self, node: Node) -> Value | None:
        """The value that the forward loop pushes on the stack that a node pops; None for any other stack."""
        stack = self.loop.outside(node.inputs[0])
        pushed = None if stack is None else self.pushed.get(stack)
        return None if pushed is None else origin(self.forward.body, pushed)

    def _tests_length(self, loop: SequenceLoop, node: Node) -> bool:
        if node.op != "GreaterEqual" or self.found.lengths is None or loop.outside(node.inputs[1]) != self.found.lengths:
            return False
        number = origin(loop.body, node.inputs[0])
        maker = loop.body[number.node]
        if loop is self.loop and maker.op == "StackPopV2":
            popped = self._popped(maker)
            return popped is not None and popped.node in self.forward.counters
        return number.node in self.forward.counters

    def _is_bound(self, value: Value) -> bool:
        """Whether a value is a bound of the hard sigmoid, inside or outside of the loop."""
        outside = self.loop.outside(value)
        known = self.body.spec(origin(self.body, value)).value if outside is None else self.loop.outer.spec(outside).value
        return known is not None and np.size(known) == 1 and float(np.reshape(known, ())) in _HARD_BOUNDS
