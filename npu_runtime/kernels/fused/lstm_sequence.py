"""An LSTM over a whole sequence as one kernel, and its gradient.

The input's share in all gates is one product before the first turn; a turn is one product of the state and a few passes over what
is in cache. The gradients of the weights are one product behind the last turn. Source: the chip's operator DynamicRNN.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from npu_runtime.graph.ops import Turns
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.fused.recurrent_turns import Gates, ended_rows, last_of, like, results_in, tanh_slopes
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
from npu_runtime.kernels.linalg.matmul import multiply
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
    memories, tanhs = kept[1:] if kept else (scratch("memories", (2, *first_c.shape)), scratch("tanhs", (2, *first_c.shape)))
    gates = Gates(cell.is_hard, 3 * units)
    scales = gates.scales(N_GATES * units)
    projected(cell, x[:count], weights, scales, sums[:count])
    recurrent = packed("state weights", [gate.h for gate in cell.gates], weights)
    recurrent *= scales
    product, h, before = scratch("state product", sums.shape[1:]), first_h, first_c
    for turn, ended in enumerate(ended_rows(lengths, count)):
        z, c, place = sums[turn], memories[turn % len(memories)], turn % len(tanhs)
        z += multiply(h, recurrent, product)
        gates.activate(z)
        h = _turn(z, before, c, tanhs[place], y[turn])
        if ended is not None:
            np.copyto(h, 0.0, where=ended)
            np.copyto(c, before, where=ended)
        before = c
    y[count:] = 0.0
    np.copyto(last_c, before)
    return y, last_of(first_h, y[:count], lengths, last_h), last_c, *kept


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
    return tuple(z[:, k * units : (k + 1) * units] for k in range(N_GATES))


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
    of the outputs if has_dy, the limits, the lengths and the weights.  wanted: of which weights somebody reads the gradient.  wants_dx: whether
    somebody reads that of x.
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
    for turn in range(count - 1, -1, -1):
        _turn_back(gates, z[turn], memories[turn - 1] if turn else first_c, tanhs[turn], sums[turn], (dh, dc),
                   None if dy is None else dy[turn], masks[turn], recurrent)  # fmt: skip
    _add_weight_gradients(cell, x[:count], previous("states before", first_h, y[:count]), sums, targets, wanted)
    if wants_dx:
        input_gradient(cell, sums, weights, count, dx)
    return dx, dh, dc, *targets


def _turn_back(
    gates: Gates, z: np.ndarray, before: np.ndarray, tanh: np.ndarray, sums: np.ndarray, states: tuple[np.ndarray, np.ndarray],
    dy: np.ndarray | None, ended: np.ndarray | None, recurrent: np.ndarray,
) -> None:  # fmt: skip
    """The gradients before a turn from those behind it.

    z: (B, 4 H), the gates.  before, tanh: (B, H), c before the turn and tanh(c) behind it.  sums: (B, 4 H), filled with the
    gradients of the gates' sums.  states: those of h and c, changed in place.  ended: rows that the turn leaves as they are.
    recurrent: (4 H, H).
    """
    dh, dc = states
    kept = None if ended is None else (dh.copy(), dc.copy())
    if dy is not None:
        np.add(dh, dy, out=dh)
    (i, f, o, g), (di, df, do, dg) = _gates(z), _gates(sums)
    slopes, product = like("gate slopes", z), like("memory gradient", dh)
    gates.slopes(z, slopes)
    tanh_slopes(g, _gates(slopes)[-1])
    tanh_slopes(tanh, product)
    np.multiply(dh, tanh, out=do)
    np.multiply(product, dh, out=product)
    np.multiply(product, o, out=product)
    np.add(dc, product, out=dc)
    np.multiply(dc, g, out=di)
    np.multiply(dc, before, out=df)
    np.multiply(dc, i, out=dg)
    np.multiply(dc, f, out=dc)
    np.multiply(sums, slopes, out=sums)
    if ended is not None:
        np.copyto(sums, 0.0, where=ended)
    multiply(sums, recurrent, dh)
    if kept is not None:
        np.copyto(dh, kept[0], where=ended)
        np.copyto(dc, kept[1], where=ended)


def _add_weight_gradients(
    cell: Cell, x: np.ndarray, before: np.ndarray, sums: np.ndarray, targets: Sequence[np.ndarray], wanted: Sequence[bool]
) -> None:
    """Add up the gradients of all weights.  x: (turns, B, I).  before: (turns, B, H).  sums: (turns, B, 4 H)."""
    asked = [target if is_wanted else None for target, is_wanted in zip(targets, wanted, strict=True)]
    add_input_gradients(cell, x, sums, asked)
    add_product(asked, [gate.h for gate in cell.gates], before, sums)
