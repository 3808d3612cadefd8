"""Differences by rounding alone: what is left of sums that cancel, near ties, and what is computed from these.

The gradient of a bias in front of a batch normalisation is zero, and both sides compute some 1e-9 for it that have nothing in
common.  Telling that as a difference would send people after nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import ml_dtypes
import numpy as np

from tf2npu.comparison.error_statistics import Measures
from tf2npu.comparison.rows import Row
from tf2npu.comparison.verdicts import AGREES, DIFFERS, DISTANCE, NOT_COMPARED, ONE_SIDED, ROUNDING

_ROUNDINGS = 16
"""Roundings of the largest element, times the square root of the length of the sum, that a sum may be off by: errors of a sum add
up as a random walk does, and 16 is four standard deviations of four operations in a row."""
_SELECTING = ("MaxPoolGrad", "MaxPool3DGrad", "ReluGrad", "Relu6Grad")
"""Words in the types of operators whose output jumps where two elements of the input change places."""
_SELECTED_OTHERWISE = 0.001
"""Share of elements that may be selected otherwise; a wrong window or axis moves far more."""
_GROWTH = 3.0
"""Times that the relative distance of an output may be that of the input it follows from; more is a difference of its own."""
_PRODUCTS = ("MatMul", "Conv")
"""Words in the types of operators that add up products of two inputs."""


def excuse(operators: Iterable[list[Row]]) -> None:
    """Give the verdict ROUNDING to rows that differ by rounding alone, and to those that follow from them.

    operators: rows of each, in order of execution.
    """
    rounded: set[str] = set()
    for rows in operators:
        _excuse_variables(rows)
        for row in rows:
            if row.is_input and row.verdict == DIFFERS and row.producer in rounded:
                row.verdict, row.why = ROUNDING, f"{row.why}; it differs by rounding alone where it is made"
        for row in rows:
            reason = _reason(row, rows) if row.verdict == DIFFERS and not row.is_input else ""
            if reason:
                row.verdict, row.why = ROUNDING, f"{row.why}; {reason}"
                rounded.add(row.producer)


def _excuse_variables(rows: list[Row]) -> None:
    """Not judge a variable that the debugger copied at another moment, mostly after its update: what was made of it agrees."""
    outputs = [row.verdict for row in rows if not row.is_input]
    if outputs and set(outputs) == {AGREES}:
        for row in rows:
            if row.is_input and row.is_of_variable and row.verdict == DIFFERS:
                row.verdict = NOT_COMPARED
                row.why = f"{row.why}; the variable was copied at another moment: what the operator made of it agrees"


def _reason(row: Row, rows: list[Row]) -> str:
    """The reason why an output differs by rounding alone; "" where it does not."""
    if any(name == ONE_SIDED for name, _, _ in row.missed) or row.measures is None:
        return ""
    if _is_rounding(row, rows):
        return "the sum cancels, and this is its rounding"
    if any(word in row.op_type for word in _SELECTING) and row.measures.share_outside <= _SELECTED_OTHERWISE:
        return "a few elements were selected otherwise, where two are nearer to each other than rounding"
    inputs = [other.values.get(DISTANCE, 0.0) for other in rows if other.is_input and other.verdict == ROUNDING]
    if inputs and row.values.get(DISTANCE, 0.0) <= _GROWTH * max(inputs):
        return "it is computed from what differs by rounding alone"
    return ""


def _is_rounding(row: Row, rows: list[Row]) -> bool:
    """Whether an output's error is within the rounding of a sum of as many products, or elements, as the operator adds up."""
    inputs = [
        other.measures for other in rows if other.is_input and other.measures is not None and other.measures.ulp_worst is not None
    ]
    own = row.measures
    if own is None or not inputs or own.ulp_worst is None:
        return False
    return own.largest_error <= _ROUNDINGS * _epsilon(row) * _size_of_sum(row.op_type, own.n, inputs)


def _size_of_sum(op_type: str, n: int, inputs: list[Measures]) -> float:
    """The largest term of an operator's sums, times the square root of their length; 0 where it does not add up.

    A product of m x k and k x n elements adds up k = sqrt(m k k n / (m n)) terms, and so do convolutions but for their edges.
    """
    if n and len(inputs) == 2 and any(word in op_type for word in _PRODUCTS):
        one, other = inputs
        return one.largest * other.largest * (one.n * other.n / n) ** 0.25
    widest = max(measure.n for measure in inputs)
    return max(measure.largest for measure in inputs) * math.sqrt(widest / n) if 0 < n < widest else 0.0


def _epsilon(row: Row) -> float:
    names = (row.device_type, row.reference_type)
    dtypes = [np.dtype(name) for name in names if name.startswith("float")]
    return max((float(ml_dtypes.finfo(dtype).eps) for dtype in dtypes), default=0.0)
