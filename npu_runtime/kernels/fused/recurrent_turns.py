"""One turn of a recurrent cell: the activations of its gates with their slopes, and the rows whose sequences have ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from npu_runtime.kernels.linalg.matmul import multiply
from npu_runtime.kernels.threads.parallel import n_threads, parallel_ranges, scratch

ONE = np.float32(1.0)
HARD_SLOPE, HARD_CENTRE = np.float32(0.2), np.float32(0.5)
"""Slope and centre of the hard sigmoid, max(0, min(1, 0.2 x + 0.5)).  Source: Keras, backend.hard_sigmoid."""

SMALL_PRODUCT_FLOPS = 1e6
"""Floating-point operations of a product of which choosing the fastest way takes longer than it gains: 10 of 25 microseconds."""
LEAST_ROWS = 4
"""The fewest rows of a thread's share of the batch: BLAS computes fewer at the same time."""
SERIAL_FLOPS = 1e7
"""A turn of fewer floating-point operations is no faster on two threads: each waits for the other's turn in the interpreter. At
4e6, 32 by 128 units, two threads took as long as one on an EPYC."""


def over_rows(batch: int, flops: float, body: Callable[[int, int], None]) -> None:
    """Run body(start, stop) over the rows of the batch, which do not know of each other: every thread takes all turns of some.

    flops: of the product of one turn.
    """
    n_shares = min(n_threads(), batch // LEAST_ROWS) if flops >= SERIAL_FLOPS else 1
    parallel_ranges(batch, body, -(-batch // max(n_shares, 1)))


def product(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> np.ndarray:
    """out = a @ b, a product of one turn.  a: (B, k).  b: (k, n).  Returns: out."""
    if 2.0 * a.size * b.shape[1] < SMALL_PRODUCT_FLOPS:
        return np.matmul(a, b, out=out)
    return multiply(a, b, out)


class Gates:
    """Columns of sums become gates in place.

    is_hard: whether the activation is the hard sigmoid and not the sigmoid.  n_columns: those that it is for, the first ones.
    """

    def __init__(self, is_hard: bool, n_columns: int) -> None:
        self.is_hard, self.columns = is_hard, slice(0, n_columns)

    def scales(self, n_columns: int) -> np.ndarray:
        """The factors of the weights of all columns, which save a pass a turn.  Returns: (n_columns) fp32."""
        made = np.ones(n_columns, np.float32)
        made[self.columns] = HARD_SLOPE if self.is_hard else -ONE
        return made

    def activate(self, sums: np.ndarray) -> None:
        """The activation of the gates, in place.  sums: (B, n) of scaled weights."""
        z = sums[:, self.columns]
        if self.is_hard:
            np.add(z, HARD_CENTRE, out=z)
            np.minimum(z, ONE, out=z)
            np.maximum(z, np.float32(0.0), out=z)
        else:
            np.exp(z, out=z)  # of the negated sum: it overflows to infinity and the result to 0, as it should
            np.add(z, ONE, out=z)
            np.divide(ONE, z, out=z)

    def slopes(self, gates: np.ndarray, out: np.ndarray) -> None:
        """The derivative of each gate, told by the gate.  gates, out: (B, n)."""
        z, slope = gates[:, self.columns], out[:, self.columns]
        if self.is_hard:
            inside = (z > 0.0) & (z < 1.0)
            np.multiply(inside, HARD_SLOPE, out=slope)
        else:
            np.subtract(ONE, z, out=slope)
            np.multiply(slope, z, out=slope)


def tanh_slopes(values: np.ndarray, out: np.ndarray) -> None:
    """1 - tanh(x)^2, told by tanh(x)."""
    np.multiply(values, values, out=out)
    np.subtract(ONE, out, out=out)


def ended_rows(lengths: np.ndarray | None, turns: int) -> list[np.ndarray | None]:
    """The rows whose sequences have ended, by turn, (B, 1) of bool; None: none has."""
    if lengths is None:
        return [None] * turns
    shortest = int(lengths.min(initial=turns))
    return [(lengths <= turn)[:, np.newaxis] if turn >= shortest else None for turn in range(turns)]


def last_of(first: np.ndarray, values: np.ndarray, lengths: np.ndarray | None, out: np.ndarray) -> np.ndarray:
    """The state behind each row's last turn.

    first: (B, H), before all turns.  values: (turns, B, H).  lengths: (B), of the rows; None: all turns.  Returns: out, (B, H).
    """
    count = len(values)
    if lengths is None:
        np.copyto(out, values[-1] if count else first)
        return out
    ends = np.minimum(lengths, count).astype(np.intp)
    np.copyto(out, first)
    rows = np.flatnonzero(ends > 0)
    out[rows] = values[ends[rows] - 1, rows]
    return out


def results_in(out: tuple[Any, ...] | None, shapes: Sequence[tuple[int, ...] | None]) -> list[Any]:
    """Memory for results, that of `out` where it has some; None where there is no result to be made."""
    given = out or (None,) * len(shapes)
    return [
        None if shape is None else np.empty(shape, np.float32) if buffer is None else buffer
        for buffer, shape in zip(given, shapes, strict=True)
    ]


def like(name: str, array: np.ndarray) -> np.ndarray:
    """Scratch of the shape of an array."""
    return scratch(name, array.shape)
