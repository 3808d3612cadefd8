"""A 1x1 convolution that widens an image, with the batch normalisation behind it, as one product.

The statistics of x @ w follow from those of x: its means are mean(x) @ w, its variances the diagonal of w' @ cov(x) @ w. Where
x is narrow, they take a fraction of the product, and the normalisation is part of the weights: the wide result is
written once, and read by nothing but what follows it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from npu_runtime.cost.work import n_elements
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.conv.conv import conv_flops
from npu_runtime.kernels.conv.im2col import add_parts
from npu_runtime.kernels.fused.normalized_activation import activation_by_lines
from npu_runtime.kernels.linalg.matmul import multiply
from npu_runtime.kernels.norm.normalization import (
    DOUBLE,
    ONE_TYPE,
    SINGLE,
    Outputs,
    as_matrix,
    check_vectors,
    is_near_zero,
    kept_statistics,
    moments,
    number,
    stored_vectors,
)
from npu_runtime.kernels.threads.parallel import fair, parallel_ranges, scratch
from npu_runtime.kernels.threads.per_channel import LINE_ELEMENTS, add_up_products, column_sums, pixels_a_line, repeated

NORMALIZED_PRODUCT = "_NormalizedProduct"
BLOCK_ELEMENTS = 1 << 19
"""Elements of the wide result that a thread computes and finishes while they are in cache."""
SUMMED = 2048
"""Pixels whose covariance is one product, in fp32."""
PRODUCT_COLUMNS = 32
"""The covariance and the gradient's share of it take 4 C^2 operations a pixel, passes over the wide result about as long as so
many times 4 K."""
FEWEST_PIXELS, FEWEST_ELEMENTS = 8, 1 << 18
"""The fewest pixels, as a multiple of the channels of x, and the fewest elements of the wide result."""
LEAST_SHARE = 0.01
"""The least share of the variance that a column would have if no channels of x were correlated: below it, the rounding of sums
loses too much."""


def is_worth_it(x: Sequence[int], filters: int) -> bool:
    """Whether the statistics of x take less time than passes over the wide result.  x: (N, H, W, C)."""
    pixels, channels = math.prod(x[:3]), x[3]
    is_large = pixels >= FEWEST_PIXELS * channels and pixels * filters >= FEWEST_ELEMENTS
    return is_large and 0 < channels * channels <= PRODUCT_COLUMNS * filters


@lru_cache(maxsize=1024)
def blocks_of(pixels: int, filters: int) -> tuple[int, tuple[slice, ...]]:
    """The number of pixels side by side in a line, and the slices of pixels, whole lines, to take at once."""
    times = pixels_a_line(pixels, filters, LINE_ELEMENTS)
    lines = pixels // times
    count = fair(-(-pixels * filters // BLOCK_ELEMENTS), lines)
    return times, tuple(slice(times * (lines * i // count), times * (lines * (i + 1) // count)) for i in range(count))


def centre_of(mean: np.ndarray, spread: np.ndarray) -> np.ndarray | None:
    """The means to subtract from x before it is multiplied: None where all are near zero, as seen from the deviations."""
    return None if is_near_zero(mean * mean, spread.diagonal()) else mean


def centred(x: np.ndarray, centre: np.ndarray | None) -> np.ndarray:
    """x - centre by column, in scratch.  x: (pixels, C) fp32."""
    return x if centre is None else np.subtract(x, centre, out=scratch("centred", x.shape))


def statistics(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance, divided by the number of rows, of the columns of x.  Returns: (C,) and (C, C) fp32."""
    count = max(len(x), 1)
    mean = (column_sums(x) / count).astype(SINGLE)
    spread = _products(x, None) / count - np.outer(mean.astype(DOUBLE), mean)
    if not is_near_zero(mean * mean, spread.diagonal()):
        spread = _products(x, mean) / count
    return mean, spread.astype(SINGLE)


def _products(x: np.ndarray, centre: np.ndarray | None) -> np.ndarray:
    """(x - centre)' @ (x - centre), (C, C) float64."""
    pixels, channels = x.shape
    n_blocks = fair(-(-pixels // SUMMED), pixels)
    products = np.empty((n_blocks, channels, channels), np.float32)

    def work(start: int, stop: int) -> None:
        for index in range(start, stop):
            block = centred(x[pixels * index // n_blocks : pixels * (index + 1) // n_blocks], centre)
            np.dot(block.T, block, out=products[index])  # half the work: the result is symmetric

    parallel_ranges(n_blocks, work)
    return add_parts(products.astype(DOUBLE))


def doubtful_columns(w: np.ndarray, spread: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Columns of x @ w that are so much narrower than the channels of x that rounding shows in what is told by its covariance.

    w: (C, K).  spread: (C, C), the covariance.  variance: (K,), of the columns.  Returns: their indices.
    """
    alone = np.matmul(spread.diagonal(), np.multiply(w, w))
    is_told = (variance >= number(LEAST_SHARE) * alone) & np.isfinite(alone)  # not so where one of them is NaN
    return np.flatnonzero(~is_told)


def _variance(x: np.ndarray, w: np.ndarray, mean: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Variance of the columns of x @ w, (K,) float64; that of doubtful columns is computed from the columns themselves."""
    shared = multiply(spread, w, np.empty(w.shape, np.float32))
    variance = np.empty(w.shape[1], np.float32)
    add_up_products(shared, w, variance)
    doubtful = doubtful_columns(w, spread, variance)
    exact = variance.astype(DOUBLE)
    if len(doubtful):
        parts = multiply(x - mean, w[:, doubtful], np.empty((len(x), len(doubtful)), np.float32))
        exact[doubtful] = moments(parts)[1]
    return exact


def _shapes(x: Spec, w: Spec, *others: Spec, **attrs: Any) -> list[Shape]:
    channels, filters = (w.shape or (None,) * 4)[2:]
    y = None if x.shape is None else (*x.shape[:3], filters)
    return [y, *[(filters,)] * 4, (0,), (channels, channels), (channels,)]


def _flops(inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: dict[str, Any]) -> float:
    """Flops of the convolution, the normalisation and the activation, as their separate nodes would count."""
    return conv_flops(inputs, outputs, attrs) + (10 if attrs.get("activation") else 8) * n_elements(outputs[0])


@kernel(NORMALIZED_PRODUCT, unit="cube", shape=_shapes, dtypes=ONE_TYPE, estimate=_flops)
def normalized_product(
    x: np.ndarray, w: np.ndarray, scale: np.ndarray, offset: np.ndarray, mean: np.ndarray, variance: np.ndarray, /,
    *side: np.ndarray, activation: str = "", alpha: float = 0.2, epsilon: float = 1e-4, exponential_avg_factor: float = 1.0,
    out: tuple[np.ndarray | None, ...] | None = None,
) -> Outputs:  # fmt: skip
    """activation(FusedBatchNormV3(Conv2D(x, w)) + side) of a 1x1 convolution, in training.

    x: (N, H, W, C) fp32.  w: (1, 1, C, K).  scale to variance: as FusedBatchNormV3.  side: nothing, or one tensor as the result.
    activation: one of `normalization_fused.MODES`, or "".  alpha: LeakyRelu's slope below zero.
    Returns: the result, (N, H, W, K); the other outputs of FusedBatchNormV3; the covariance of x, (C, C), and its mean, (C,).
    Raises: as FusedBatchNormV3.
    """
    buffers = out or (None,) * 8
    filters = w.shape[3]
    check_vectors((*x.shape[:3], filters), "NHWC", (scale, offset, mean, variance), exponential_avg_factor != 1.0)
    pixels, weights = as_matrix(x), w.reshape(w.shape[2:])
    x_mean, spread = statistics(pixels)
    centre = centre_of(x_mean, spread)
    batch_mean, batch_variance = np.matmul(x_mean.astype(DOUBLE), weights), _variance(pixels, weights, x_mean, spread)
    kept = kept_statistics(len(pixels), mean, variance, batch_mean, batch_variance, exponential_avg_factor)
    used = stored_vectors((batch_mean, batch_variance), buffers[3:5])
    factor = scale / np.sqrt(used[1] + number(epsilon))
    y = np.empty((*x.shape[:3], filters), np.float32) if buffers[0] is None else buffers[0]
    finish = activation_by_lines(activation, alpha) if activation else None
    folded = weights * factor
    constant = offset if centre is not None else offset - batch_mean * factor
    matrix, sides = as_matrix(y), [as_matrix(added) for added in side]
    times, blocks = blocks_of(len(pixels), filters)
    line = repeated(constant.astype(SINGLE), times)

    def work(start: int, stop: int) -> None:
        for rows in blocks[start:stop]:
            block = matrix[rows]
            multiply(centred(pixels[rows], centre), folded, block)
            lines = block.reshape(-1, len(line))
            np.add(lines, line, out=lines)
            for added in sides:
                np.add(block, added[rows], out=block)
            if finish is not None:
                finish(lines)

    parallel_ranges(len(blocks), work)
    nothing = np.empty(0, np.float32) if buffers[5] is None else buffers[5]
    return (y, *stored_vectors(kept, buffers[1:3]), *used, nothing, *stored_vectors((spread, x_mean), buffers[6:8]))
