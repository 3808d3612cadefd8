"""The sum that a value in a loop's body is: products with pieces of the loop's matrices, pieces of its vectors, and a number.

Every way of writing the gates of a cell comes to the same terms: one matrix for input and state or two, gates cut out of the
product or matrices cut before it, biases inside or outside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from npu_runtime.analysis.evaluate_iteration import Values
from npu_runtime.analysis.sequence_loops import SequenceLoop, origin
from npu_runtime.errors import MISFITS, DeviceError
from npu_runtime.graph.ir import Node, Value
from npu_runtime.graph.ops import CONSTANT, LOOP_INPUT
from npu_runtime.kernels.base import all_kernels

_MOVING = {"Split": 1, "SplitV": 0, "Slice": 0, "StridedSlice": 0, "Unpack": 0, "Reshape": 0, "Squeeze": 0}
"""Ops that only pick elements of one of their inputs, by its position."""
_SHAPES = frozenset({"Shape", "ShapeN", "Rank", "Size"})
"""Ops whose results follow from shapes, which are the same in every turn."""


@dataclass(frozen=True)
class Term:
    """source @ weight[places], or weight[places] alone.

    source: in the body; None: nothing is multiplied.  weight: outside, a matrix, a vector or the handle of one.  shape: its.
    places: (rows, columns) of numbers of its elements in row order.
    """

    source: Value | None
    weight: Value
    shape: tuple[int, ...]
    places: np.ndarray

    def rectangle(self) -> tuple[tuple[int, int], tuple[int, int]] | None:
        """First and end of the rows and of the columns, a vector being one row; None where the places are no rectangle."""
        (rows, columns), width = self.places.shape, self.shape[-1]
        if not rows or not columns:
            return None
        top, left = divmod(int(self.places[0, 0]), width)
        whole = (top + np.arange(rows))[:, np.newaxis] * width + left + np.arange(columns)
        is_one = left + columns <= width and np.array_equal(whole, self.places)
        return ((top, top + rows), (left, left + columns)) if is_one else None


@dataclass(frozen=True)
class Sum:
    """terms: what is added up, each for all columns.  offset: a number that is added to all."""

    terms: tuple[Term, ...] = ()
    offset: float = 0.0

    def __add__(self, other: Sum) -> Sum:
        return Sum(self.terms + other.terms, self.offset + other.offset)

    def columns(self, picked: np.ndarray) -> Sum:
        return replace(self, terms=tuple(replace(term, places=term.places[:, picked]) for term in self.terms))


class GateSums:
    """Asks for the terms of values in the body of one loop.  values: of a turn that was tried."""

    def __init__(self, loop: SequenceLoop, values: Values) -> None:
        self.loop, self.body, self.values = loop, loop.body, values

    def node(self, value: Value) -> Node:
        """The node that makes a value; Identities are skipped."""
        return self.body[origin(self.body, value).node]

    def number(self, value: Value) -> float | None:
        """The number that a value is in every turn; None for any other value."""
        if not self.is_fixed(value) or np.size(self.values[value]) != 1:
            return None
        return float(np.reshape(self.values[value], ()))

    def is_fixed(self, value: Value) -> bool:
        """Whether a value is the same in every turn and known when the program is made."""
        value = origin(self.body, value)
        node = self.body[value.node]
        if node.op in ("Const", CONSTANT) or node.op in _SHAPES:
            return True
        if node.op == LOOP_INPUT:
            outside = self.loop.outside(value)
            known = None if outside is None else self.loop.outer.spec(outside).value
            return known is not None and np.array_equal(self.values.get(value, known), known)  # a trial may have drawn others
        return bool(node.inputs) and not node.is_stateful and all(map(self.is_fixed, node.inputs))

    def of(self, value: Value) -> Sum | None:
        """The terms of a (B, n) value; None where it is no such sum."""
        node, value = self.node(value), origin(self.body, value)
        if node.op in ("Add", "AddV2", "BiasAdd", "AddN"):
            return self._added(node)
        if node.op == "MatMul" and not node.attrs.get("transpose_a") and not node.attrs.get("transpose_b"):
            return self._product(node)
        if node.op in _MOVING:
            before = self.of(node.inputs[_MOVING[node.op]])
            picked = self.picked_columns(value)
            return None if before is None or picked is None else before.columns(picked)
        return None

    def _added(self, node: Node) -> Sum | None:
        total = Sum()
        for value in node.inputs:
            number = self.number(value)
            part = Sum(offset=number) if number is not None else self._vector(value) or self.of(value)
            if part is None:
                return None
            total += part
        return total if total.terms else None

    def _vector(self, value: Value) -> Sum | None:
        """A piece of a bias."""
        found = self._places(value)
        if found is None or (found[1].ndim == 2 and len(found[1]) != 1) or found[1].ndim not in (1, 2):
            return None
        weight, places = found
        return Sum((Term(None, weight, self._shape(weight), places.reshape(1, -1)),))

    def _product(self, node: Node) -> Sum | None:
        found = self._places(node.inputs[1])
        if found is None or found[1].ndim != 2:
            return None
        weight, places = found
        terms, start = [], 0
        for part in self._side_by_side(node.inputs[0]):
            end = start + self.values[part].shape[1]
            terms.append(Term(origin(self.body, part), weight, self._shape(weight), places[start:end]))
            start = end
        return Sum(tuple(terms)) if start == len(places) else None

    def _side_by_side(self, value: Value) -> Sequence[Value]:
        """The values that are joined on axis 1 to be this one."""
        node = self.node(value)
        if node.op == "ConcatV2" and self.number(node.inputs[-1]) in (1, -1):
            return node.inputs[:-1]
        return [value]

    def _shape(self, weight: Value) -> tuple[int, ...]:
        return self.loop.outer.spec(weight).known_shape()

    def _places(self, value: Value) -> tuple[Value, np.ndarray] | None:
        """The matrix or vector outside that a value is a piece of, and the numbers of its elements."""
        node, value = self.node(value), origin(self.body, value)
        if node.op == LOOP_INPUT or (node.op == "ReadVariableOp" and self.node(node.inputs[0]).op == LOOP_INPUT):
            outside = self.loop.outside(value if node.op == LOOP_INPUT else node.inputs[0])
            if outside is None or not self.loop.outer.spec(outside).is_complete:
                return None
            shape = self._shape(outside)
            return (outside, np.arange(np.prod(shape, dtype=np.int64)).reshape(shape)) if len(shape) in (1, 2) else None
        found = self._places(node.inputs[_MOVING[node.op]]) if node.op in _MOVING else None
        moved = None if found is None else self._moved(value, found[1])
        return None if found is None or moved is None else (found[0], moved)

    def picked_columns(self, value: Value) -> np.ndarray | None:
        """The columns of its (B, n) input that a moving op returns, alike in all rows; None where it does anything else."""
        source = self.values[self.node(value).inputs[_MOVING[self.node(value).op]]]
        if np.ndim(source) != 2 or not len(source):
            return None
        numbers = np.arange(source.shape[1])
        moved = self._moved(value, np.tile(numbers, (len(source), 1)) + source.shape[1] * np.arange(len(source))[:, np.newaxis])
        if moved is None or moved.ndim != 2 or len(moved) != len(source):
            return None
        rows = moved - source.shape[1] * np.arange(len(source))[:, np.newaxis]
        is_same = bool((rows == rows[:1]).all()) and rows.size > 0 and rows.min() >= 0 and rows.max() < source.shape[1]
        return rows[0] if is_same else None

    def _moved(self, value: Value, numbers: np.ndarray) -> np.ndarray | None:
        """The numbers of the elements that a moving op returns; None for other ops, or where the result depends on the turn."""
        node = self.node(value)
        if node.op not in _MOVING:
            return None
        place, made = _MOVING[node.op], all_kernels()[node.op]
        if not all(self.is_fixed(other) for position, other in enumerate(node.inputs) if position != place):
            return None
        operands = [numbers if position == place else self.values[other] for position, other in enumerate(node.inputs)]
        try:
            result = made.function(*operands, **made.bind(node.attrs))
        except (DeviceError, *MISFITS):
            return None
        return result[value.output] if isinstance(result, tuple) else result
