"""Gradients of a 1x1 convolution with the batch normalisation behind it, without a pass over the wide result.

With dz what comes back, P = (x - mean)' @ dz and r = 1 / sqrt(variance + epsilon), by columns j of w: the gradient of the scale
is r w_j . P_j, and what the normalisation hands on, dy = scale r (dz - sum(dz) / n - (x - mean) w_j r dscale / n), is linear in
dz and x. So x' @ dy is made of P and the covariance of x, and dy @ w' of dz @ w' and x times a matrix of (C, C).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from npu_runtime.cost.work import n_elements
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.conv.conv_gradients import backprop_flops
from npu_runtime.kernels.conv.im2col import MOST_PARTS, add_parts, multiply_turned
from npu_runtime.kernels.fused.normalized_activation_gradient import ACTIVATION_GRADIENTS
from npu_runtime.kernels.fused.normalized_products import blocks_of, centre_of, centred, doubtful_columns
from npu_runtime.kernels.linalg.matmul import multiply
from npu_runtime.kernels.norm.normalization import DOUBLE, ONE_TYPE, SINGLE, Outputs, as_matrix, number, stored_vectors
from npu_runtime.kernels.norm.normalization_gradients import Through
from npu_runtime.kernels.threads.parallel import parallel_ranges, scratch
from npu_runtime.kernels.threads.per_channel import SUMMED_ELEMENTS, SUMMED_LINES, add_up_products, ones, pixels_a_line, repeated

NORMALIZED_PRODUCT_GRADIENT, NORMALIZED_PRODUCT_INPUT_GRADIENT = "_NormalizedProductGrad", "_NormalizedProductInputGrad"


def _products(
    dz: np.ndarray, x: np.ndarray, mean: np.ndarray, centre: np.ndarray | None, through: Through | None
) -> tuple[np.ndarray, np.ndarray]:
    """(x - mean)' @ dz, (C, K) fp32, and the sums of dz by column, (K,) float64.  dz: (pixels, K), x: (pixels, C) fp32.

    through: what dz has to pass first; its gradient is written block by block, and multiplied while it is in cache.
    """
    filters = dz.shape[1]
    times, blocks = blocks_of(*dz.shape)
    summed = filters * pixels_a_line(times, filters, SUMMED_ELEMENTS)
    n_parts = min(MOST_PARTS, len(blocks))
    products = np.empty((n_parts, x.shape[1], filters), np.float32)
    totals = np.empty((len(blocks), summed))

    def work(start: int, stop: int) -> None:
        for part in range(start, stop):
            first, last = len(blocks) * part // n_parts, len(blocks) * (part + 1) // n_parts
            for index in range(first, last):
                rows = blocks[index]
                gradient = dz[rows] if through is None else _pass(through, dz, rows, times * filters)
                totals[index] = _line_sums(gradient.reshape(-1, summed))
                made = products[part] if index == first else scratch("normalized product", products.shape[1:])
                multiply_turned(centred(x[rows], centre), gradient, made)
                if index > first:
                    np.add(products[part], made, out=products[part])

    parallel_ranges(n_parts, work)
    product = add_parts(products)
    total = totals.reshape(-1, filters).sum(axis=0)
    if centre is None:
        np.subtract(product, np.outer(mean, total.astype(SINGLE)), out=product)
    return product, total


def _line_sums(lines: np.ndarray) -> np.ndarray:
    """The sum of the lines, float64; at most SUMMED_LINES of them are added up in fp32."""
    total = np.zeros(lines.shape[1])
    for first in range(0, len(lines), SUMMED_LINES):
        part = lines[first : first + SUMMED_LINES]
        np.add(total, np.matmul(ones(len(part)), part), out=total)
    return total


def _pass(through: Through, dz: np.ndarray, rows: slice, length: int) -> np.ndarray:
    """The gradient by the activation's input of some rows, dz being that by its output.  length: of the lines to work on."""
    passed, gradients, features = (matrix[rows].reshape(-1, length) for matrix in (through.passed, dz, through.features))
    through.body(passed, gradients, features)
    return through.passed[rows]


class _Doubtful(NamedTuple):
    """Columns that the covariance does not tell well: their indices, and they themselves, (pixels, count), centred."""

    where: np.ndarray
    columns: np.ndarray


def _doubtful(x: np.ndarray, mean: np.ndarray, w: np.ndarray, spread: np.ndarray, variance: np.ndarray) -> _Doubtful | None:
    """The doubtful columns of x @ w; None where there are none."""
    where = doubtful_columns(w, spread, variance)
    if not len(where):
        return None
    return _Doubtful(where, multiply(x - mean, w[:, where], np.empty((len(x), len(where)), np.float32)))


def _scale_gradient(dz: np.ndarray, w: np.ndarray, product: np.ndarray, doubtful: _Doubtful | None) -> np.ndarray:
    """Sums of dz times the centred columns of x @ w, (K,) float64; doubtful ones are summed pixel by pixel."""
    made = np.empty(w.shape[1], np.float32)
    add_up_products(product, w, made)
    exact = made.astype(DOUBLE)
    if doubtful is not None:
        exact[doubtful.where] = np.einsum("pk,pk->k", doubtful.columns, dz[:, doubtful.where], dtype=DOUBLE)
    return exact


def _shared(
    x: np.ndarray, mean: np.ndarray, w: np.ndarray, spread: np.ndarray, doubtful: _Doubtful | None, out: np.ndarray
) -> None:
    """out = the covariance of the channels of x with the columns of x @ w, (C, K)."""
    multiply(spread, w, out)
    if doubtful is not None:
        out[:, doubtful.where] = np.matmul((x - mean).T, doubtful.columns) / np.float32(len(x))


def _shapes(
    gradients: Spec, x: Spec, w: Spec, scale: Spec, variance: Spec, spread: Spec, x_mean: Spec, *features: Spec, **attrs: Any
) -> list[Shape]:  # fmt: skip
    filters = (w.shape or (None,) * 4)[3]
    return [gradients.shape if features else (0,), (filters,), (filters,), w.shape, (filters,), (filters,)]


def _flops(inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: dict[str, Any]) -> float:
    """Flops of the filter's gradient, the normalisation's and the activation's, as their separate nodes would count."""
    per_element = 14 if attrs.get("activation") else 12
    plain = {"strides": (1, 1, 1, 1)}
    return backprop_flops([inputs[1], inputs[6], inputs[0]], [outputs[3]], plain) + per_element * n_elements(inputs[0])


@kernel(NORMALIZED_PRODUCT_GRADIENT, unit="cube", shape=_shapes, dtypes=ONE_TYPE, estimate=_flops, inplace=(0,))
def normalized_product_grad(
    gradients: np.ndarray, x: np.ndarray, w: np.ndarray, scale: np.ndarray, variance: np.ndarray, spread: np.ndarray,
    x_mean: np.ndarray, /, *features: np.ndarray, activation: str = "", alpha: float = 0.2, epsilon: float = 1e-4,
    out: tuple[np.ndarray | None, ...] | None = None,
) -> Outputs:  # fmt: skip
    """Gradients of `_NormalizedProduct` by scale, offset and w.

    gradients: of the result, (N, H, W, K).  x, w, scale: the forward inputs.  variance, spread, x_mean: its outputs 4, 6 and 7.
    features: its result, where an activation's gradient comes first.  activation: one of ACTIVATION_GRADIENTS, or "".
    Returns: what passes the activation, as gradients, or nothing, (0,); gradients of scale and offset, (K,), and of w,
    (1, 1, C, K); by column, how much of dz the normalisation hands on, and how much of x @ w it adds to that, (K,).
    """
    buffers = out or (None,) * 6
    dz, pixels, weights = as_matrix(gradients), as_matrix(x), w.reshape(w.shape[2:])
    passed, through = np.empty(0, np.float32) if buffers[0] is None else buffers[0], None
    if activation:
        passed = passed if passed.size else np.empty(gradients.shape, np.float32)
        through = Through(ACTIVATION_GRADIENTS[activation](alpha), as_matrix(features[0]), as_matrix(passed))
    product, total = _products(dz, pixels, x_mean, centre_of(x_mean, spread), through)
    inverse = 1.0 / np.sqrt(variance.astype(DOUBLE) + number(epsilon, DOUBLE))
    doubtful = _doubtful(pixels, x_mean, weights, spread, variance)
    by_scale = inverse * _scale_gradient(dz if through is None else through.passed, weights, product, doubtful)
    dw = np.empty(w.shape, np.float32) if buffers[3] is None else buffers[3]
    by_filter = dw.reshape(weights.shape)
    factor = (scale * inverse).astype(SINGLE)
    slope = -scale * inverse * inverse * by_scale
    _shared(pixels, x_mean, weights, spread, doubtful, by_filter)
    np.multiply(by_filter, slope.astype(SINGLE), out=by_filter)
    np.multiply(product, factor, out=product)
    np.add(by_filter, product, out=by_filter)
    handed_on = stored_vectors((factor, slope / max(len(pixels), 1)), buffers[4:6])
    return (passed, *stored_vectors((by_scale, total), buffers[1:3]), dw, *handed_on)


def _input_shape(dz: Spec, x: Spec, *others: Spec, **attrs: Any) -> Shape:
    return x.shape


def _input_flops(inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: dict[str, Any]) -> float:
    return backprop_flops([Spec((4,), "int32"), inputs[2], inputs[0]], outputs, {"strides": (1, 1, 1, 1)})


@kernel(NORMALIZED_PRODUCT_INPUT_GRADIENT, unit="cube", shape=_input_shape, dtypes=ONE_TYPE, estimate=_input_flops)
def normalized_product_input_grad(
    dz: np.ndarray, x: np.ndarray, w: np.ndarray, variance: np.ndarray, spread: np.ndarray, x_mean: np.ndarray,
    by_offset: np.ndarray, factor: np.ndarray, slope: np.ndarray, /, *, out: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """Gradient of `_NormalizedProduct` by x.

    dz: gradient of the result, behind the activation, (N, H, W, K).  x to x_mean: as `_NormalizedProductGrad`.  by_offset,
    factor, slope: outputs 2, 4 and 5 of that, (K,).  Returns: as x.
    """
    dx = np.empty(x.shape, np.float32) if out is None else out
    target, gradient, pixels, weights = as_matrix(dx), as_matrix(dz), as_matrix(x), w.reshape(w.shape[2:])
    folded = np.ascontiguousarray((weights * factor).T)
    constant = np.matmul(by_offset / -len(pixels), folded)
    doubtful, beside = _doubtful(pixels, x_mean, weights, spread, variance), None
    if doubtful is not None:  # by way of the columns, which a matrix would lose in its rounding
        columns = doubtful.columns * slope[doubtful.where]
        beside = multiply(columns, weights[:, doubtful.where].T, np.empty(pixels.shape, np.float32))
        slope = slope.copy()
        slope[doubtful.where] = 0
    mixed = multiply(weights * slope, weights.T, np.empty(spread.shape, np.float32))
    centre = centre_of(x_mean, spread)
    if centre is None:
        constant -= np.matmul(x_mean, mixed)
    times, blocks = blocks_of(len(pixels), len(folded))
    line = repeated(constant.astype(SINGLE), times)

    def work(start: int, stop: int) -> None:
        for rows in blocks[start:stop]:
            block = target[rows]
            multiply(gradient[rows], folded, block)
            mine = multiply(centred(pixels[rows], centre), mixed, scratch("normalized product", block.shape))
            lines = mine.reshape(-1, len(line))
            np.add(lines, line, out=lines)
            np.add(block, mine, out=block)
            if beside is not None:
                np.add(block, beside[rows], out=block)

    parallel_ranges(len(blocks), work)
    return dx
