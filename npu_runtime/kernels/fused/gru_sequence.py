"""A GRU over a whole sequence as one kernel, and its gradient.

The input's share in both gates and the candidate is one product before the first turn. The gradients of the weights are products
behind the last one. Source: the chip's operator DynamicGRUV2.
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
    add_bias_gradients,
    add_input_gradients,
    add_product,
    bias_of,
    input_gradient,
    n_turns,
    packed,
    previous,
    projected,
    shares,
)
from npu_runtime.kernels.threads.parallel import scratch

GRU_SEQUENCE = "_GruSequence"
GRU_SEQUENCE_GRADIENT = "_GruSequenceGrad"
_FLOAT32 = frozenset({"float32"})
N_GATES = 3
"""Column blocks of a GRU: the reset and the update gate, which have one activation, and the candidate."""


def _results(x: Sequence[int], units: int, is_kept: bool) -> list[tuple[int, ...]]:
    """Shapes of what the kernel returns.  x: (T, B, I)."""
    length, batch, _ = x
    sequence = (length, batch, units)
    return [sequence, (batch, units), *([(length, batch, N_GATES * units), sequence] if is_kept else [])]


def _shape(*specs: Spec, cell: Cell, **_: Any) -> list[Shape]:
    return list(_results(specs[0].known_shape(), specs[1].known_shape()[1], cell.is_kept))


class _Products:
    """The products of the state.

    A reset gate behind the product of the state leaves one product a turn; before it there are two: of the state for the gates,
    of the reset state for the candidate.  weights: (H, 2 H) and (H, H), views of one matrix.  inner: what is added to the
    candidate's product before the gate.
    """

    def __init__(self, cell: Cell, weights: Sequence[np.ndarray], scales: np.ndarray | None = None) -> None:
        self.all = packed("state weights", [gate.h for gate in cell.gates], weights)
        if scales is not None:
            self.all *= scales
        units, self.is_after = self.all.shape[0], cell.is_after
        self.gates, self.candidate = self.all[:, : 2 * units], self.all[:, 2 * units :]
        self.inner = bias_of(cell.gates, weights, is_inner=True)[2 * units :]


@kernel(GRU_SEQUENCE, unit="cube", shape=_shape, dtypes=_FLOAT32)
def gru_sequence(*operands: Any, cell: Cell, turns: Turns, out: tuple[Any, ...] | None = None) -> tuple[Any, ...]:
    """The outputs and the last state of a GRU.

    operands: x (T, B, I), h (B, H) to begin with, the limits, the lengths (B) and the weights; fp32 but limits and lengths.
    Returns: the outputs (T, B, H), zeros where a sequence has ended; the last h (B, H); and, where the gradient reads them, the
    gates and the candidate (T, B, 3 H), and what the candidate adds up of the state (T, B, H): the reset state, or the product
    that is reset.  Raises: InvalidArgument, see `n_turns`.
    """
    (x, first), (limits, lengths, weights) = operands[:2], shares(cell, operands[2:])
    turns.count = count = n_turns(len(x), limits)
    units = first.shape[1]
    y, last, *kept = results_in(out, _results(x.shape, units, cell.is_kept))
    sums = kept[0] if kept else scratch("gate sums", (len(x), len(first), N_GATES * units))
    gates = Gates(cell.is_hard, 2 * units)
    scales = gates.scales(N_GATES * units)
    projected(cell, x[:count], weights, scales, sums[:count])
    forward = _Forward(gates, _Products(cell, weights, scales), sums[:count], first, y, kept[1:], ended_rows(lengths, count))
    over_rows(len(first), 2.0 * len(first) * forward.products.all.size, forward.rows)
    y[count:] = 0.0
    return y, last_of(first, y[:count], lengths, last), *kept


@dataclass
class _Forward:
    """All turns of some rows of the batch.

    sums: (turns, B, 3 H), of the input, which become gates and candidate.  first: (B, H).  y: (T, B, H), filled.  kept: what the
    candidate adds up of the state in all turns, filled, or nothing.
    """

    gates: Gates
    products: _Products
    sums: np.ndarray
    first: np.ndarray
    y: np.ndarray
    kept: Sequence[np.ndarray]
    ended: Sequence[np.ndarray | None]

    def rows(self, start: int, stop: int) -> None:
        part, h = slice(start, stop), self.first[start:stop]
        turn_once = _turn_after if self.products.is_after else _turn
        resets = self.kept[0][:, part] if self.kept else scratch("resets", (1, *h.shape))
        for turn, ended in enumerate(self.ended):
            z = self.sums[turn, part]
            turn_once(self.gates, self.products, z, h, resets[turn % len(resets)])
            h = _mixed(z, h, self.y[turn, part])
            if ended is not None:
                np.copyto(h, 0.0, where=ended[part])


def _turn(gates: Gates, products: _Products, z: np.ndarray, h: np.ndarray, reset: np.ndarray) -> None:
    """The gates and the candidate, in place of their sums in z (B, 3 H); `reset` (B, H) is filled with r * h."""
    both, (r, _, g) = z[:, : 2 * h.shape[1]], _gates(z)
    np.add(both, product(h, products.gates, like("state product", both)), out=both)
    gates.activate(z)
    np.multiply(r, h, out=reset)
    np.add(g, product(reset, products.candidate, like("reset product", h)), out=g)
    np.tanh(g, out=g)


def _turn_after(gates: Gates, products: _Products, z: np.ndarray, h: np.ndarray, reset: np.ndarray) -> None:
    """The same where the product is reset; `reset` is filled with it."""
    units = h.shape[1]
    both, (r, _, g) = z[:, : 2 * units], _gates(z)
    state = product(h, products.all, like("state product", z))
    np.add(both, state[:, : 2 * units], out=both)
    gates.activate(z)
    np.add(state[:, 2 * units :], products.inner, out=reset)
    scaled = np.multiply(r, reset, out=like("reset product", h))
    np.add(g, scaled, out=g)
    np.tanh(g, out=g)


def _mixed(z: np.ndarray, h: np.ndarray, out: np.ndarray) -> np.ndarray:
    """u * h + (1 - u) * g.  Returns: out, (B, H)."""
    _, u, g = _gates(z)
    np.subtract(h, g, out=out)
    np.multiply(out, u, out=out)
    return np.add(out, g, out=out)


def _gates(z: np.ndarray) -> tuple[np.ndarray, ...]:
    units = z.shape[1] // N_GATES
    return z[:, :units], z[:, units : 2 * units], z[:, 2 * units :]


def _gradient_shape(*specs: Spec, cell: Cell, wants_dx: bool, **_: Any) -> list[Shape]:
    x, h, weights = specs[0].shape, specs[1].shape, specs[len(specs) - cell.n_weights :]
    return [x if wants_dx else (0,), h, *(spec.shape for spec in weights)]


@kernel(GRU_SEQUENCE_GRADIENT, unit="cube", shape=_gradient_shape, dtypes=_FLOAT32)
def gru_sequence_gradient(
    *operands: Any, cell: Cell, turns: Turns, wanted: tuple[bool, ...], has_dy: bool, wants_dx: bool,
    out: tuple[Any, ...] | None = None,
) -> tuple[Any, ...]:  # fmt: skip
    """The gradients of a GRU's input, first state and weights.

    operands: x, h to begin with, the outputs and what `gru_sequence` keeps of all turns, the gradient of the last h, that of the
    outputs if has_dy, the limits, the lengths and the weights.  wanted: of which weights somebody reads the gradient.
    wants_dx: whether somebody reads that of x.
    Returns: the gradients of x (T, B, I), h (B, H), and of each weight, zeros where it is not wanted.
    """
    x, first, y, z, resets, last_dh = operands[:6]
    dy = operands[6] if has_dy else None
    limits, lengths, weights = shares(cell, operands[6 + has_dy :])
    turns.count = count = n_turns(len(x), limits)
    dx, dh, *targets = results_in(out, [x.shape if wants_dx else (0,), first.shape, *(w.shape for w in weights)])
    for target in targets:
        target[...] = 0.0
    np.copyto(dh, last_dh)
    before = previous("states before", first, y[:count])
    sums, inner = scratch("sum gradients", (count, *z.shape[1:])), scratch("inner gradients", (count, *first.shape))
    products, gates, masks = _Products(cell, weights), Gates(cell.is_hard, 2 * first.shape[1]), ended_rows(lengths, count)
    backward = _Backward(gates, products, (before, z, resets), (sums, inner), dh, dy, masks)
    over_rows(len(first), 2.0 * len(first) * products.all.size, backward.rows)
    asked = [target if is_wanted else None for target, is_wanted in zip(targets, wanted, strict=True)]
    _add_weight_gradients(cell, x[:count], (before, resets[:count]), (sums, inner), asked)
    if wants_dx:
        input_gradient(cell, sums, weights, count, dx)
    return dx, dh, *targets


@dataclass
class _Backward:
    """All turns of some rows of the batch, from the last to the first.

    kept: of all turns, the state before each, the gates and the candidate, and what that adds up of the state.  sums: (turns, B,
    3 H), filled with the gradients of the gates' sums, and (turns, B, H) of the product that is reset.  dh: (B, H), changed from
    that behind the last turn to that before the first.  dy: of the outputs.  ended: rows that each turn leaves alone.
    """

    gates: Gates
    products: _Products
    kept: tuple[np.ndarray, np.ndarray, np.ndarray]
    sums: tuple[np.ndarray, np.ndarray]
    dh: np.ndarray
    dy: np.ndarray | None
    ended: Sequence[np.ndarray | None]

    def rows(self, start: int, stop: int) -> None:
        part, dh = slice(start, stop), self.dh[start:stop]
        turn_back = _turn_back_after if self.products.is_after else _turn_back
        for turn in range(len(self.sums[0]) - 1, -1, -1):
            ended = self.ended[turn]
            mask = None if ended is None else ended[part]
            kept = None if mask is None else dh.copy()
            if self.dy is not None:
                np.add(dh, self.dy[turn, part], out=dh)
            (h, z, reset), (sums, inner) = ([one[turn, part] for one in ones] for ones in (self.kept, self.sums))
            slopes = _mixed_back(self.gates, z, h, sums, dh)
            turn_back(self.products, z, h, reset, slopes, sums, inner, dh, mask)
            if mask is not None and kept is not None:
                np.copyto(dh, kept, where=mask)


def _mixed_back(gates: Gates, z: np.ndarray, h: np.ndarray, sums: np.ndarray, dh: np.ndarray) -> np.ndarray:
    """Through u * h + (1 - u) * g: dh becomes what h is multiplied by there, sums those of the update gate and the candidate.

    Returns: the slopes of the gates and the candidate, (B, 3 H) in scratch.
    """
    (_, u, g), (_, du, dg), slopes = _gates(z), _gates(sums), like("gate slopes", z)
    gates.slopes(z, slopes)
    tanh_slopes(g, _gates(slopes)[-1])
    np.subtract(h, g, out=du)
    np.multiply(du, dh, out=du)
    np.multiply(dh, u, out=dg)
    np.subtract(dh, dg, out=dg)
    np.multiply(dg, _gates(slopes)[-1], out=dg)
    np.multiply(dh, u, out=dh)
    return slopes


def _turn_back(
    products: _Products, z: np.ndarray, h: np.ndarray, reset: np.ndarray, slopes: np.ndarray, sums: np.ndarray,
    inner: np.ndarray, dh: np.ndarray, ended: np.ndarray | None,
) -> None:  # fmt: skip
    """Through the candidate of r * h and the gates: sums (B, 3 H) and dh (B, H) are completed."""
    units = h.shape[1]
    (r, _, _), (dr, _, dg), both = _gates(z), _gates(sums), sums[:, : 2 * units]
    if ended is not None:
        np.copyto(dg, 0.0, where=ended)
    state = product(dg, products.candidate.T, like("reset gradient", h))
    np.multiply(state, h, out=dr)
    np.multiply(state, r, out=state)
    np.add(dh, state, out=dh)
    np.multiply(both, slopes[:, : 2 * units], out=both)
    if ended is not None:
        np.copyto(both, 0.0, where=ended)
    np.add(dh, product(both, products.gates.T, state), out=dh)


def _turn_back_after(
    products: _Products, z: np.ndarray, h: np.ndarray, reset: np.ndarray, slopes: np.ndarray, sums: np.ndarray,
    inner: np.ndarray, dh: np.ndarray, ended: np.ndarray | None,
) -> None:  # fmt: skip
    """The same where the product is reset; `inner` (B, H) is filled with the gradient of that product."""
    units = h.shape[1]
    (r, _, _), (dr, _, dg), both = _gates(z), _gates(sums), sums[:, : 2 * units]
    np.multiply(dg, reset, out=dr)
    np.multiply(both, slopes[:, : 2 * units], out=both)
    if ended is not None:
        np.copyto(sums, 0.0, where=ended)
    np.multiply(dg, r, out=inner)
    joined = like("state sums", sums)
    joined[:, : 2 * units], joined[:, 2 * units :] = both, inner
    np.add(dh, product(joined, products.all.T, like("reset gradient", h)), out=dh)


def _add_weight_gradients(
    cell: Cell, x: np.ndarray, states: tuple[np.ndarray, np.ndarray], sums: tuple[np.ndarray, np.ndarray],
    targets: Sequence[np.ndarray | None],
) -> None:  # fmt: skip
    """Add up the gradients of all weights.

    states: before each turn and as reset.  sums: of the gates, and of the inner product.
    """
    (before, resets), (of_gates, inner) = states, sums
    add_input_gradients(cell, x, of_gates, targets)
    columns = 2 * before.shape[-1]
    add_product(targets, [gate.h for gate in cell.gates[:2]], before, of_gates[..., :columns])
    if cell.is_after:
        add_product(targets, [cell.gates[2].h], before, inner)
        add_bias_gradients(targets, [cell.gates[2].inner], inner)
    else:
        add_product(targets, [cell.gates[2].h], resets, of_gates[..., columns:])
