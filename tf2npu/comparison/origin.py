"""Where a difference begins: the node that makes it, or that brings it in from outside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tf2npu.comparison.graph_file import Graph, Operator
from tf2npu.comparison.layouts import NotComparable
from tf2npu.comparison.rows import Row
from tf2npu.comparison.unreadable import Unreadable
from tf2npu.comparison.verdicts import CANCELS, DIFFERS, RTOL, Thresholds

SOURCES = {"Const": "a constant", "Data": "what was fed", "Variable": "a variable"}
"""Types of nodes that have no dump file and bring values in, with what each is for people."""
_MAXIMA = ("MaxPoolGrad", "MaxPoolV3Grad")
"""Operators whose gradient goes to the largest of a window, the first of equal ones."""


@dataclass(frozen=True)
class Origin:
    """row: in which the difference is seen first.  name, op_type, line: of the node that it comes from.

    is_outside: whether the node brings it in, and computes nothing.  is_tie: whether both sides have the same values, at other
    places.
    """

    row: Row
    name: str
    op_type: str
    line: str
    is_outside: bool
    is_tie: bool


def origin_of(
    rows: Sequence[Row], graph: Graph | None, thresholds: Thresholds, with_tensors: Callable[[Row], Row]
) -> Origin | None:  # fmt: skip
    """The first place in order of execution; None where nothing differs.  with_tensors: a row whose tensors can be read.

    That is an output that differs although all inputs of its operator agree, or an input that a source brings in. Where there is
    neither, the first row that differs.
    """
    by_name = {operator.name: operator for operator in graph.operators} if graph else {}
    differing = [row for row in rows if row.verdict == DIFFERS]
    bad_inputs = {row.operator for row in rows if row.is_input and row.verdict in (DIFFERS, CANCELS)}
    begins = [row for row in differing if _source(row, by_name) or (not row.is_input and row.operator not in bad_inputs)]
    row = min(begins or differing, key=_place, default=None)
    if row is None:
        return None
    producer = by_name.get(_producer(row), by_name.get(row.operator))
    is_outside = _source(row, by_name) is not None
    if producer is None:
        return Origin(row, row.operator, row.op_type, row.line, is_outside, False)
    is_tie = not row.is_input and row.op_type in _MAXIMA and _are_moved(with_tensors(row), thresholds)
    return Origin(row, producer.name, producer.op_type, producer.line or row.line, is_outside, is_tie)


def _place(row: Row) -> tuple[int, int, bool]:
    return row.order, row.index, not row.is_input


def _producer(row: Row) -> str:
    return row.producer.rpartition(":")[0]


def _source(row: Row, by_name: dict[str, Operator]) -> Operator | None:
    """What brings in the tensor of an input; None where an operator made it."""
    producer = by_name.get(_producer(row)) if row.is_input else None
    return producer if producer is not None and producer.op_type in SOURCES else None


def _are_moved(row: Row, thresholds: Thresholds) -> bool:
    """Whether both sides hold the same values up to the tolerance, some at other places."""
    if row.beside is None:
        return False
    try:
        pair = row.beside()
    except (Unreadable, NotComparable):
        return False
    x, y = np.sort(pair.x, axis=None), np.sort(pair.y, axis=None)
    largest = float(np.abs(y).max(initial=0.0))
    return bool(np.allclose(x, y, rtol=0, atol=10 * thresholds.of(pair.x.dtype, pair.y.dtype)[RTOL] * largest))
