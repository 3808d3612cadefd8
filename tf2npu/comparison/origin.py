"""The origin of a difference: the node that makes it, or that brings it in from outside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tf2npu.comparison.graph.operators import Graph, Operator
from tf2npu.comparison.rows import Row
from tf2npu.comparison.verdicts import DIFFERS, NOT_COMPARED

SOURCES = {"Const": "a constant", "Data": "what was fed", "Variable": "a variable"}
"""Types of nodes that have no dump file and bring values in, with what each is for people."""


@dataclass(frozen=True)
class Origin:
    """row: in which the difference is seen first.  name, op_type, line: of the node that it comes from.

    is_outside: whether the node brings it in, and computes nothing.
    """

    row: Row
    name: str
    op_type: str
    line: str
    is_outside: bool


def origin_of(rows: Sequence[Row], graph: Graph | None) -> Origin | None:
    """The first place in order of execution; None where nothing differs.

    That is an output that differs although all inputs of its operator agree, or an input that a source brings in. Where there is
    neither, the first row that differs.
    """
    by_name = {operator.name: operator for operator in graph.operators} if graph else {}
    differing = [row for row in rows if row.verdict == DIFFERS]
    bad_inputs = _with_bad_inputs(rows)
    begins = [row for row in differing if _source(row, by_name) or (not row.is_input and row.operator not in bad_inputs)]
    row = min(begins or differing, key=_place, default=None)
    if row is None:
        return None
    producer = by_name.get(_producer(row), by_name.get(row.operator))
    is_outside = _source(row, by_name) is not None
    if producer is None:
        return Origin(row, row.operator, row.op_type, row.line, is_outside)
    return Origin(row, producer.name, producer.op_type, producer.line or row.line, is_outside)


def _with_bad_inputs(rows: Sequence[Row]) -> set[str]:
    """Operators of which an input differs, or is presumed to: it has no reference, and comes from an operator of these."""
    found: set[str] = set()
    presumed: set[str] = set()
    for row in sorted(rows, key=_place):
        if row.is_input:
            if row.verdict == DIFFERS or row.producer in presumed:
                found.add(row.operator)
        elif row.operator in found and row.verdict == NOT_COMPARED and row.producer:
            presumed.add(row.producer)
    return found


def _place(row: Row) -> tuple[int, int, bool]:
    return row.order, row.index, not row.is_input


def _producer(row: Row) -> str:
    return row.producer.rpartition(":")[0]


def _source(row: Row, by_name: dict[str, Operator]) -> Operator | None:
    """The constant, fed value or variable that brings in the tensor of an input; None where an operator made it."""
    producer = by_name.get(_producer(row)) if row.is_input else None
    return producer if producer is not None and producer.op_type in SOURCES else None
