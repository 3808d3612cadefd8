"""An LSTM over a whole sequence as one kernel, and its gradient.

The input's share in all gates is one product before the first turn; a turn is one product of the state and a few passes over what
is in cache. The gradients of the weights are one product behind the last turn. Source: the chip's operator DynamicRNN.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from npu_runtime.graph.ops import Turns
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.fused.recurrent_turns import (
    Gates,
    ended_rows,
    last_of,
    like,
    over_rows,
    product,
    results_in,
    tanh_slopes,
)
from npu_runtime.kernels.fused.recurrent_weights import (
    Cell,
    add_input_gradients,
    add_product,
    input_gradient,
    n_turns,
    packed,
    previous,
    projected,
    shares,
)
from npu_runtime.kernels.threads.parallel import scratch

LSTM_SEQUENCE = "_LstmSequence"
LSTM_SEQUENCE_GRADIENT = "_LstmSequenceGrad"
_FLOAT32 = frozenset({"float32"})
N_GATES = 4
"""Gates of an LSTM: input, forget and output, which have one activation, and the candidate."""


def _results(x: Sequence[int], units: int, is_kept: bool) -> list[tuple[int, ...]]:
    """Shapes of what the kernel returns.  x: (T, B, I)."""
    length, batch, _ = x
    sequence, state = (length, batch, units), (batch, units)
    return [sequence, state, state, *([(length, batch, N_GATES * units), sequence, sequence] if is_kept else [])]


def _shape(*specs: Spec, cell: Cell, **_: Any) -> list[Shape]:
    return list(_results(specs[0].known_shape(), specs[1].known_shape()[1], cell.is_kept))


@kernel(LSTM_SEQUENCE, unit="cube", shape=_shape, dtypes=_FLOAT32)
def lstm_sequence(*operands: Any, cell: Cell, turns: Turns, out: tuple[Any, ...] | None = None) -> tuple[Any, ...]:
    """The outputs and the last states of an LSTM.

    operands: x (T, B, I), h and c (B, H) to begin with, the limits, the lengths (B) and the weights; fp32 but limits and lengths.
    Returns: the outputs (T, B, H), zeros where a sequence has ended; the last h and c (B, H); and, where the gradient reads them,
    the gates (T, B, 4 H), c and tanh(c) behind each turn (T, B, H).  Raises: InvalidArgument, see `n_turns`.
    """
    (x, first_h, first_c), (limits, lengths, weights) = operands[:3], shares(cell, operands[3:])
    turns.count = count = n_turns(len(x), limits)
    units = first_h.shape[1]
    y, last_h, last_c, *kept = results_in(out, _results(x.shape, units, cell.is_kept))
    sums = kept[0] if kept else scratch("gate sums", (len(x), len(first_h), N_GATES * units))
    gates = Gates(cell.is_hard, 3 * units)
    scales = gates.scales(N_GATES * units)
    projected(cell, x[:count], weights, scales, sums[:count])
    recurrent = packed("state weights", [gate.h for gate in cell.gates], weights)
    recurrent *= scales
    forward = _Forward(gates, recurrent, sums[:count], (first_h, first_c), (y, last_c), kept[1:], ended_rows(lengths, count))
    over_rows(len(first_h), 2.0 * len(first_h) * recurrent.size, forward.rows)
    y[count:] = 0.0
    return y, last_of(first_h, y[:count], lengths, last_h), last_c, *kept


@dataclass
class _Forward:
    """All turns of some rows of the batch.

    recurrent: (H, 4 H).  sums: (turns, B, 4 H), of the input, which become the gates.  first: h and c to begin with.
    results: the outputs and the last c, filled.  kept: c and tanh(c) of all turns, filled, or nothing.
    """

    gates: Gates
    recurrent: np.ndarray
    sums: np.ndarray
    first: tuple[np.ndarray, np.ndarray]
    results: tuple[np.ndarray, np.ndarray]
    kept: Sequence[np.ndarray]
    ended: Sequence[np.ndarray | None]

    def rows(self, start: int, stop: int) -> None:
        part = slice(start, stop)
        (h, before), (y, last) = (state[part] for state in self.first), self.results
        memories, tanhs = ([kept[:, part] for kept in self.kept] or
                           [scratch(name, (2, *h.shape)) for name in ("memories", "tanhs")])  # fmt: skip
        sums = scratch("state product", (stop - start, self.sums.shape[-1]))
        for turn, ended in enumerate(self.ended):
            z, c = self.sums[turn, part], memories[turn % len(memories)]
            np.add(z, product(h, self.recurrent, sums), out=z)
            self.gates.activate(z)
            h = _turn(z, before, c, tanhs[turn % len(tanhs)], y[turn, part])
            if ended is not None:
                np.copyto(h, 0.0, where=ended[part])
                np.copyto(c, before, where=ended[part])
            before = c
        np.copyto(last[part], before)


def _turn(z: np.ndarray, before: np.ndarray, c: np.ndarray, tanh: np.ndarray, h: np.ndarray) -> np.ndarray:
    """c = f * before + i * g, h = o * tanh(c).  z: (B, 4 H), the gates, g still its sum.  c, tanh, h: filled.  Returns: h."""
    i, f, o, g = _gates(z)
    np.tanh(g, out=g)
    np.multiply(i, g, out=h)
    np.multiply(f, before, out=c)
    np.add(c, h, out=c)
    np.tanh(c, out=tanh)
    return np.multiply(o, tanh, out=h)


def _gates(z: np.ndarray) -> tuple[np.ndarray, ...]:
    units = z.shape[1] // N_GATES
    return z[:, :units], z[:, units : 2 * units], z[:, 2 * units : 3 * units], z[:, 3 * units :]


def _gradient_shape(*specs: Spec, cell: Cell, wants_dx: bool, **_: Any) -> list[Shape]:
    x, h, weights = specs[0].shape, specs[1].shape, specs[len(specs) - cell.n_weights :]
    return [x if wants_dx else (0,), h, h, *(spec.shape for spec in weights)]


@kernel(LSTM_SEQUENCE_GRADIENT, unit="cube", shape=_gradient_shape, dtypes=_FLOAT32)
def lstm_sequence_gradient(
    *operands: Any, cell: Cell, turns: Turns, wanted: tuple[bool, ...], has_dy: bool, wants_dx: bool,
    out: tuple[Any, ...] | None = None,
) -> tuple[Any, ...]:  # fmt: skip
    """The gradients of an LSTM's input, first states and weights.

    operands: x, h and c to begin with, the outputs, gates, c and tanh(c) of all turns, the gradients of the last h and c, that
    of the outputs if has_dy, the limits, the lengths and the weights.  wanted: of which weights somebody reads the gradient.
    wants_dx: whether somebody reads that of x.
    Returns: the gradients of x (T, B, I), h and c (B, H), and of each weight, zeros where it is not wanted.
    """
    x, first_h, first_c, y, z, memories, tanhs, last_dh, last_dc = operands[:9]
    dy = operands[9] if has_dy else None
    limits, lengths, weights = shares(cell, operands[9 + has_dy :])
    turns.count = count = n_turns(len(x), limits)
    dx, dh, dc, *targets = results_in(
        out, [x.shape if wants_dx else (0,), first_h.shape, first_h.shape, *(w.shape for w in weights)]
    )
    for target in targets:
        target[...] = 0.0
    np.copyto(dh, last_dh)
    np.copyto(dc, last_dc)
    sums = scratch("sum gradients", (count, *z.shape[1:]))
    recurrent = packed("state weights", [gate.h for gate in cell.gates], weights).T
    gates, masks = Gates(cell.is_hard, 3 * first_h.shape[1]), ended_rows(lengths, count)
    backward = _Backward(gates, recurrent, z, (first_c, memories, tanhs), sums, (dh, dc), dy, masks)
    over_rows(len(first_h), 2.0 * len(first_h) * recurrent.size, backward.rows)
    _add_weight_gradients(cell, x[:count], previous("states before", first_h, y[:count]), sums, targets, wanted)
    if wants_dx:
        input_gradient(cell, sums, weights, count, dx)
    return dx, dh, dc, *targets


@dataclass
class _Backward:
    """All turns of some rows of the batch, from the last to the first.

    recurrent: (4 H, H).  z: the gates of all turns.  memories: c to begin with, c and tanh(c) of all turns.  sums: (turns, B, 4
    H), filled with the gradients of the gates' sums.  states: the gradients of h and c (B, H), changed from those behind the last
    turn to those before the first.  dy: of the outputs.  ended: of each turn the rows that it leaves as they are.
    """

    gates: Gates
    recurrent: np.ndarray
    z: np.ndarray
    memories: tuple[np.ndarray, np.ndarray, np.ndarray]
    sums: np.ndarray
    states: tuple[np.ndarray, np.ndarray]
    dy: np.ndarray | None
    ended: Sequence[np.ndarray | None]

    def rows(self, start: int, stop: int) -> None:
        part = slice(start, stop)
        first, memories, tanhs = self.memories
        dh, dc = (state[part] for state in self.states)
        for turn in range(len(self.sums) - 1, -1, -1):
            ended = self.ended[turn]
            kept = None if ended is None else (dh.copy(), dc.copy())
            if self.dy is not None:
                np.add(dh, self.dy[turn, part], out=dh)
            before, sums = memories[turn - 1, part] if turn else first[part], self.sums[turn, part]
            _turn_back(self.gates, self.z[turn, part], before, tanhs[turn, part], sums, dh, dc)
            if ended is not None:
                np.copyto(sums, 0.0, where=ended[part])
            product(sums, self.recurrent, dh)
            if ended is not None and kept is not None:
                np.copyto(dh, kept[0], where=ended[part])
                np.copyto(dc, kept[1], where=ended[part])


def _turn_back(
    gates: Gates, z: np.ndarray, before: np.ndarray, tanh: np.ndarray, sums: np.ndarray, dh: np.ndarray, dc: np.ndarray
) -> None:
    """The gradients of the gates' sums of a turn, and of c before it.

    z: (B, 4 H), the gates.  before, tanh: (B, H), c before the turn and tanh(c) behind it.  sums: (B, 4 H), filled.  dh: (B, H),
    behind the turn.  dc: (B, H), changed.
    """
    (i, f, o, g), (di, df, do, dg) = _gates(z), _gates(sums)
    slopes, slope = like("gate slopes", z), like("memory slopes", dh)
    gates.slopes(z, slopes)
    tanh_slopes(g, slopes[:, 3 * g.shape[1] :])
    tanh_slopes(tanh, slope)
    np.multiply(dh, tanh, out=do)
    np.multiply(slope, dh, out=slope)
    np.multiply(slope, o, out=slope)
    np.add(dc, slope, out=dc)
    np.multiply(dc, g, out=di)
    np.multiply(dc, before, out=df)
    np.multiply(dc, i, out=dg)
    np.multiply(dc, f, out=dc)
    np.multiply(sums, slopes, out=sums)


def _add_weight_gradients(
    cell: Cell, x: np.ndarray, before: np.ndarray, sums: np.ndarray, targets: Sequence[np.ndarray], wanted: Sequence[bool]
) -> None:
    """Add up the gradients of all weights.  x: (turns, B, I).  before: (turns, B, H).  sums: (turns, B, 4 H)."""
    asked = [target if is_wanted else None for target, is_wanted in zip(targets, wanted, strict=True)]
    add_input_gradients(cell, x, sums, asked)
    add_product(asked, [gate.h for gate in cell.gates], before, sums)
