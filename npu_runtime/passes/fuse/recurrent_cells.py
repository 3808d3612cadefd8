"""The recurrent cell that the body of a loop computes, told by ops and constants: TensorFlow's and Keras' LSTM and GRU.

A body that computes anything else in the place of the cell is no known cell. How gates are cut out of matrices does not matter;
`analysis.gate_sums` sees through it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import permutations

import numpy as np

from npu_runtime.analysis.evaluate_iteration import Values
from npu_runtime.analysis.gate_sums import GateSums, Sum, Term
from npu_runtime.analysis.sequence_loops import SequenceLoop, origin
from npu_runtime.graph.ir import Node, Value
from npu_runtime.kernels.fused.recurrent_turns import HARD_CENTRE, HARD_SLOPE
from npu_runtime.kernels.fused.recurrent_weights import Block, Cell, Gate

ADDITIONS = ("Add", "AddV2")
SELECTS = ("Select", "SelectV2")


@dataclass
class Found:
    """A cell in a loop.

    states: variables of the loop, h first.  weights: outside, as the cell's blocks count them.  lengths: outside, of the rows'
    sequences; None: all turns count.
    """

    cell: Cell
    states: list[str]
    weights: list[Value]
    lengths: Value | None


@dataclass
class _Sigmoid:
    """A gate.  is_hard: which activation.  total: what it adds up."""

    is_hard: bool
    total: Sum


@dataclass
class CellMatcher:
    """Looks for a cell in one loop.  values: of a turn that was tried.  weights: those that gates were found to use."""

    loop: SequenceLoop
    values: Values
    weights: list[Value] = field(default_factory=list)
    lengths: Value | None = None

    def __post_init__(self) -> None:
        self.sums = GateSums(self.loop, self.values)
        self.body = self.loop.body
        self.x = Value(self.loop.reads[0].name)

    def match(self) -> Found | None:
        """The cell of the loop; None for one that is not known."""
        for states in permutations(self.loop.carried):
            self.weights, self.lengths = [], None
            behind = self._behind(list(states))
            cell = None if behind is None else self._lstm(states, behind) if len(states) == 2 else self._gru(states, behind)
            if cell is not None:
                return Found(cell, list(states), self.weights, self.lengths)
        return None

    def _behind(self, states: list[str]) -> list[Value] | None:
        """The states that a turn makes, before rows whose sequences have ended keep theirs; None where these are not alike."""
        written = [(origin(self.body, node.inputs[2]), None) for node in self.loop.writes]
        nexts = [self.loop.next_of(name) for name in states]
        is_masked = self.sums.node(nexts[0]).op in SELECTS
        if not is_masked:
            return nexts if written in ([], [(nexts[0], None)]) else None
        made, ended = [], set()
        for value, kept in [*zip(nexts, states, strict=True), *written]:
            node = self.sums.node(value)
            if node.op not in SELECTS or not self._is_kept(node.inputs[1], kept):
                return None
            made.append(origin(self.body, node.inputs[2]))
            ended.add(origin(self.body, node.inputs[0]))
        if len(ended) != 1 or made[len(states) :] not in ([], made[:1]):
            return None
        self.lengths = self._lengths_of(self.body[ended.pop().node])
        return None if self.lengths is None else made[: len(states)]

    def _is_kept(self, value: Value, state: str | None) -> bool:
        """Whether it is the state before the turn; for no state, whether it is zeros."""
        if state is not None:
            return origin(self.body, value) == Value(state)
        outside = self.loop.outside(value)
        return (
            is_zero(self.loop, outside) if outside is not None else self.sums.is_fixed(value) and not np.any(self.values[value])
        )

    def _lengths_of(self, node: Node) -> Value | None:
        """The lengths that the number of a turn is compared with."""
        if node.op != "GreaterEqual" or origin(self.body, node.inputs[0]).node not in self.loop.counters:
            return None
        outside = self.loop.outside(node.inputs[1])
        spec = None if outside is None else self.loop.outer.spec(outside)
        return outside if spec is not None and spec.rank == 1 and spec.dtype in ("int32", "int64") else None

    def _lstm(self, states: tuple[str, ...], behind: list[Value]) -> Cell | None:
        """h = o * tanh(c), c = f * before + i * g."""
        h, memory = Value(states[0]), Value(states[1])
        for o, tanh in self._pairs(behind[0], ("Mul",)):
            if self.sums.node(tanh).op != "Tanh" or origin(self.body, self.sums.node(tanh).inputs[0]) != behind[1]:
                continue
            for kept, added in self._pairs(behind[1], ADDITIONS):
                forget, candidate = self._other(kept, memory), self._gated_tanh(added)
                if forget is not None and candidate is not None:
                    return self._cell([candidate[0], forget, o], candidate[1], h, h)
        return None

    def _gru(self, states: tuple[str, ...], behind: list[Value]) -> Cell | None:
        """h = u * before + (1 - u) * g."""
        if len(states) != 1:
            return None
        h = Value(states[0])
        for kept, added in self._pairs(behind[0], ADDITIONS):
            update = self._other(kept, h)
            if update is None:
                continue
            for rest, tanh in self._pairs(added, ("Mul",)):
                if self._is_rest(rest, update) and self.sums.node(tanh).op == "Tanh":
                    return self._gru_with(h, update, self.sums.node(tanh).inputs[0])
        return None

    def _gru_with(self, h: Value, update: Value, candidate: Value) -> Cell | None:
        """The cell whose candidate's sum is known: it is of the reset state, or has the reset product of the state."""
        for product, rest in self._pairs(candidate, ADDITIONS):
            for reset, inner in self._pairs(product, ("Mul",)):
                state = self.sums.of(inner)
                if state is not None and self._gate(reset) is not None:
                    total = self.sums.of(rest)
                    return None if total is None else self._cell([reset, update], total, h, h, state)
        total = self.sums.of(candidate)
        for source in [] if total is None else [term.source for term in total.terms]:
            resets = [] if source is None else [gate for gate, other in self._pairs(source, ("Mul",)) if other == h]
            if total is not None and source is not None and resets:
                return self._cell([resets[0], update], total, h, source)
        return None

    def _pairs(self, value: Value, ops: tuple[str, ...]) -> list[tuple[Value, Value]]:
        """The two operands of a value of one of these ops, in either order."""
        node = self.sums.node(value)
        if node.op not in ops or len(node.inputs) != 2:
            return []
        a, b = (origin(self.body, operand) for operand in node.inputs)
        return [(a, b), (b, a)]

    def _other(self, value: Value, factor: Value) -> Value | None:
        """The other operand of a product with a factor; None for a value that is no such product."""
        return next((other for other, one in self._pairs(value, ("Mul",)) if one == factor), None)

    def _gated_tanh(self, value: Value) -> tuple[Value, Sum] | None:
        """The gate, and what is added up in the hyperbolic tangent that it multiplies."""
        for gate, tanh in self._pairs(value, ("Mul",)):
            node = self.sums.node(tanh)
            total = self.sums.of(node.inputs[0]) if node.op == "Tanh" else None
            if total is not None and self._gate(gate) is not None:
                return gate, total
        return None

    def _is_rest(self, value: Value, gate: Value) -> bool:
        """Whether it is 1 - gate."""
        node = self.sums.node(value)
        return node.op == "Sub" and self.sums.number(node.inputs[0]) == 1.0 and origin(self.body, node.inputs[1]) == gate

    def _gate(self, value: Value) -> _Sigmoid | None:
        """A gate, also one that was cut out behind the activation."""
        node = self.sums.node(value)
        if node.op == "Sigmoid":
            total = self.sums.of(node.inputs[0])
            return None if total is None else _Sigmoid(False, total)
        if node.op in ("Split", "SplitV", "StridedSlice", "Slice"):
            before = self._gate(node.inputs[1 if node.op == "Split" else 0])
            picked = self.sums.picked_columns(origin(self.body, value))
            return None if before is None or picked is None else _Sigmoid(before.is_hard, before.total.columns(picked))
        inside = self._hard_sigmoid_of(value)
        total = None if inside is None else self.sums.of(inside)
        return None if total is None else _Sigmoid(True, total)

    def _hard_sigmoid_of(self, value: Value) -> Value | None:
        """x of max(min(0.2 x + 0.5, 1), 0)."""
        chain = (("Maximum", 0.0), ("Minimum", 1.0), ("AddV2", float(HARD_CENTRE)), ("Mul", float(HARD_SLOPE)))
        for op, number in chain:
            found = [one for one, other in self._pairs(value, (op,)) if self.sums.number(other) == number]
            if not found:
                return None
            value = found[0]
        return value

    def _cell(self, gates: list[Value], candidate: Sum, h: Value, source: Value, inner: Sum | None = None) -> Cell | None:
        """The cell of these gates and candidate.  source: what the candidate multiplies.  inner: its reset product."""
        found = [self._gate(gate) for gate in gates]
        kinds = {gate.is_hard for gate in found if gate is not None}
        if None in found or len(kinds) != 1:
            return None
        blocks = [self._gate_blocks(gate.total, h) for gate in found if gate is not None]
        last = self._gate_blocks(candidate, source) if inner is None else self._reset_blocks(candidate, inner, h)
        made = tuple(gate for gate in (*blocks, last) if gate is not None)
        if len(made) != len(found) + 1 or not self._fit(made, h):
            return None
        return Cell(made, len(self.weights), kinds.pop(), inner is not None, len(self.loop.limits), self.lengths is not None)

    def _fit(self, gates: tuple[Gate, ...], h: Value) -> bool:
        """Whether all gates are of the state's width."""
        units, width = self.values[h].shape[1], self.values[self.x].shape[1]
        products = all(_extent(g.x) == (width, units) and _extent(g.h) == (units, units) for g in gates)
        return products and all(_extent(block) == (1, units) for g in gates for block in (*g.biases, *g.inner))

    def _gate_blocks(self, total: Sum, source: Value) -> Gate | None:
        """One product of the input, one of the state, and biases."""
        by_source: dict[Value | None, list[Term]] = {}
        for term in total.terms:
            by_source.setdefault(term.source, []).append(term)
        biases = by_source.pop(None, [])
        if by_source.keys() != {self.x, source} or any(len(terms) != 1 for terms in by_source.values()):
            return None
        return self._blocks(by_source[self.x][0], by_source[source][0], biases, [], total.offset)

    def _reset_blocks(self, total: Sum, inner: Sum, h: Value) -> Gate | None:
        """The same where the product of the state has a sum of its own."""
        inputs = [term for term in total.terms if term.source is not None]
        states = [term for term in inner.terms if term.source is not None]
        if [term.source for term in inputs] != [self.x] or [term.source for term in states] != [h] or inner.offset:
            return None
        biases, own = ([term for term in part.terms if term.source is None] for part in (total, inner))
        return self._blocks(inputs[0], states[0], biases, own, total.offset)

    def _blocks(self, x: Term, h: Term, biases: list[Term], inner: list[Term], offset: float) -> Gate | None:
        made = [self._block(term) for term in (x, h, *biases, *inner)]
        whole = [block for block in made if block is not None]
        if len(whole) != len(made):
            return None
        end = 2 + len(biases)
        return Gate(whole[0], whole[1], tuple(whole[2:end]), tuple(whole[end:]), offset)

    def _block(self, term: Term) -> Block | None:
        found = term.rectangle()
        if found is None:
            return None
        if term.weight not in self.weights:
            self.weights.append(term.weight)
        return Block(self.weights.index(term.weight), *found)


def _extent(block: Block) -> tuple[int, int]:
    return block.rows[1] - block.rows[0], block.columns[1] - block.columns[0]


def is_zero(loop: SequenceLoop, outside: Value) -> bool:
    """Whether a value outside of the loop is zeros."""
    node, spec = loop.outer[outside.node], loop.outer.spec(outside)
    if spec.value is not None:
        return not np.any(spec.value)
    if node.op == "Fill":
        filled = loop.outer.spec(node.inputs[1]).value
        return filled is not None and not np.any(filled)
    return node.op == "ZerosLike"
