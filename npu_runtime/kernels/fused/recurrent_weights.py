"""The weights of a recurrent cell: where each gate's stand in the graph's matrices, and the products that all turns share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from npu_runtime.errors import InvalidArgument
from npu_runtime.kernels.linalg.matmul import multiply
from npu_runtime.kernels.threads.parallel import scratch


@dataclass(frozen=True)
class Block:
    """A rectangle of one of the cell's weights.  weight: its number.  rows, columns: first and end; a vector is one row."""

    weight: int
    rows: tuple[int, int]
    columns: tuple[int, int]

    def within(self, weight: np.ndarray) -> np.ndarray:
        """The view of it in its weight.  Returns: (rows, columns)."""
        matrix = weight.reshape(-1, weight.shape[-1])
        return matrix[self.rows[0] : self.rows[1], self.columns[0] : self.columns[1]]


@dataclass(frozen=True)
class Gate:
    """The terms that one gate adds up before its activation.

    x: the matrix that the input is multiplied by.  h: that of the state.  biases: rows that are added.  inner: rows that are
    added to the product of the state alone, where a reset gate scales that.  offset: a number that is added.
    """

    x: Block
    h: Block
    biases: tuple[Block, ...] = ()
    inner: tuple[Block, ...] = ()
    offset: float = 0.0


@dataclass(frozen=True)
class Cell:
    """A recurrent cell as a kernel takes it.

    gates: of an LSTM input, forget, output and candidate; of a GRU reset, update and candidate.  n_weights: inputs that
    the blocks count.  is_hard: whether the gates' activation is the hard sigmoid, max(0, min(1, 0.2 x + 0.5)).  is_after:
    whether a GRU's reset gate scales the product of the state and not the state.  n_limits: scalar inputs that bound the turns.
    is_masked: whether an input has the length of each row's sequence.  is_kept: whether the kernel keeps what the gradient reads.
    """

    gates: tuple[Gate, ...]
    n_weights: int
    is_hard: bool = False
    is_after: bool = False
    n_limits: int = 0
    is_masked: bool = False
    is_kept: bool = False


def packed(name: str, blocks: Sequence[Block], weights: Sequence[np.ndarray]) -> np.ndarray:
    """Blocks of as many rows beside each other, in scratch of that name.  Returns: (rows, all columns) fp32."""
    parts = [block.within(weights[block.weight]) for block in blocks]
    made = scratch(name, (parts[0].shape[0], sum(part.shape[1] for part in parts)))
    return np.concatenate(parts, axis=1, out=made)


def bias_of(gates: Sequence[Gate], weights: Sequence[np.ndarray], is_inner: bool = False) -> np.ndarray:
    """The biases of the products of all gates.  is_inner: of those of the state alone.  Returns: (all columns) fp32."""
    rows = []
    for gate in gates:
        total = np.full(gate.x.columns[1] - gate.x.columns[0], 0.0 if is_inner else gate.offset, np.float32)
        for block in gate.inner if is_inner else gate.biases:
            total += block.within(weights[block.weight])[0]
        rows.append(total)
    return np.concatenate(rows)


def projected(cell: Cell, x: np.ndarray, weights: Sequence[np.ndarray], scales: np.ndarray, out: np.ndarray) -> np.ndarray:
    """The share of the input in the sums of all gates, of all turns in one product.

    x: (T, B, I).  scales: (all columns) that it is multiplied by.  out: (T, B, all columns).  Returns: out.
    """
    matrix = packed("input weights", [gate.x for gate in cell.gates], weights)
    matrix *= scales
    rows = out.reshape(-1, out.shape[-1])
    multiply(x.reshape(-1, x.shape[-1]), matrix, rows)
    rows += bias_of(cell.gates, weights) * scales
    return out


def shares(cell: Cell, operands: Sequence[Any]) -> tuple[Sequence[Any], Any, Sequence[Any]]:
    """The limits, the lengths (None: there are none) and the weights, the last operands of every kernel of a cell."""
    n_masked = cell.n_limits + cell.is_masked
    return operands[: cell.n_limits], operands[cell.n_limits] if cell.is_masked else None, operands[n_masked:]


def n_turns(length: int, limits: Sequence[np.ndarray]) -> int:
    """The iterations of the loop.  Raises: InvalidArgument where it would read behind the last element, as TensorFlow says."""
    turns = max(0, min((int(limit) for limit in limits), default=length))
    if turns > length:
        raise InvalidArgument(f"Tried to read from index {length} but array size is: {length}")
    return turns


def _add_gradient(targets: Sequence[np.ndarray | None], blocks: Sequence[Block], gradient: np.ndarray) -> None:
    """Add the columns of a gradient to the blocks that they belong to.  targets: by weight; None: nobody asks for it."""
    start = 0
    for block in blocks:
        target, width = targets[block.weight], block.columns[1] - block.columns[0]
        if target is not None:
            place = block.within(target)
            np.add(place, gradient[:, start : start + width], out=place)
        start += width


def add_product(
    targets: Sequence[np.ndarray | None], blocks: Sequence[Block], left: np.ndarray, sums: np.ndarray
) -> None:  # fmt: skip
    """Add left' @ sums, of all turns at once, to the blocks.  left: (turns, B, k).  sums: (turns, B, all columns)."""
    if all(targets[block.weight] is None for block in blocks):
        return
    a, b = left.reshape(-1, left.shape[-1]), sums.reshape(-1, sums.shape[-1])
    _add_gradient(targets, blocks, multiply(a.T, b, scratch("weight gradients", (a.shape[1], b.shape[1]))))


def add_input_gradients(cell: Cell, x: np.ndarray, sums: np.ndarray, targets: Sequence[np.ndarray | None]) -> None:
    """Add the gradients of the input's weights and of the biases.  x: (turns, B, I).  sums: (turns, B, all columns)."""
    add_product(targets, [gate.x for gate in cell.gates], x, sums)
    add_bias_gradients(targets, [gate.biases for gate in cell.gates], sums)


def add_bias_gradients(
    targets: Sequence[np.ndarray | None], biases: Sequence[Sequence[Block]], sums: np.ndarray
) -> None:  # fmt: skip
    """Add the sums over all turns and rows to the biases.  biases: of each gate.  sums: (turns, B, all columns)."""
    total = np.add.reduce(sums.reshape(-1, sums.shape[-1]), axis=0)[np.newaxis]
    width = sums.shape[-1] // len(biases)
    for index, blocks in enumerate(biases):
        for block in blocks:
            _add_gradient(targets, [block], total[:, index * width : (index + 1) * width])


def input_gradient(cell: Cell, sums: np.ndarray, weights: Sequence[np.ndarray], turns: int, out: np.ndarray) -> np.ndarray:
    """The gradient of the input, of all turns in one product; zeros behind them.

    sums: (turns, B, all columns).  out: (T, B, I).  Returns: out.
    """
    matrix = packed("input weights", [gate.x for gate in cell.gates], weights)
    rows = out[:turns].reshape(-1, out.shape[-1])
    multiply(sums.reshape(-1, sums.shape[-1]), matrix.T, rows)
    out[turns:] = 0.0
    return out


def previous(name: str, first: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The state before each turn: the first one and then those behind all turns but the last, in scratch.

    first: (B, H).  values: (turns, B, H).  Returns: the same shape as values.
    """
    made = scratch(name, values.shape)
    if len(values):
        made[0] = first
        made[1:] = values[:-1]
    return made
