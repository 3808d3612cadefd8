"""Gradients of fused batch normalisation."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from npu_runtime.cost.work import per_element
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.native import normalization_loops
from npu_runtime.kernels.norm.normalization import (
    DOUBLE,
    ONE_TYPE,
    TYPES,
    Outputs,
    as_matrix,
    channels_of,
    check_channels,
    is_near_zero,
    number,
    result_buffer,
    stored,
    stored_vectors,
)
from npu_runtime.kernels.shapes import merge
from npu_runtime.kernels.threads.parallel import scratch
from npu_runtime.kernels.threads.per_channel import add_up, add_up_products, block_sums, each_block
from npu_runtime.kernels.threads.tiling import Body
from npu_runtime.kernels.variable_access import shape_text


class Through(NamedTuple):
    """The activation behind the normalisation: its gradient, body(out, gradients, features), the features, where to write it."""

    body: Body
    features: np.ndarray
    passed: np.ndarray


def _sums(dy: np.ndarray, x: np.ndarray, centre: np.ndarray | None, through: Through | None = None) -> np.ndarray:
    """Sums of dy and of dy * (x - centre) by column.  dy, x: (pixels, C) fp32.  Returns: (2, C) float64.

    through: what dy has to pass first; its gradient is written block by block, and summed while it is in cache.
    """

    def body(gradient: np.ndarray, block: np.ndarray, *rest: np.ndarray) -> None:
        *others, totals = rest
        if through is not None:
            features, passed, *others = others
            through.body(passed, gradient, features)
            gradient = passed
        shifted = np.subtract(block, others[0], out=scratch("normalization", block.shape)) if others else block
        add_up(gradient, totals[0])
        add_up_products(shifted, gradient, totals[1])

    matrices = [dy, x] if through is None else [dy, x, through.features, through.passed]
    return block_sums(matrices, [] if centre is None else [centre], 2, body)


def _combine(
    dy: np.ndarray, x: np.ndarray, factor: np.ndarray, slope: np.ndarray, offset: np.ndarray, centre: np.ndarray | None,
    dx: np.ndarray,
) -> None:  # fmt: skip
    """dx = dy * factor + (x - centre) * slope + offset by column.  dx may be dy or x."""

    def body(gradient: np.ndarray, block: np.ndarray, target: np.ndarray, *vectors: np.ndarray) -> None:
        scale, steepness, constant, *centres = vectors
        back = scratch("normalization", block.shape)
        shifted = np.subtract(block, centres[0], out=back) if centres else block
        if normalization_loops.combine(gradient, shifted, target, scale, steepness, constant):
            return
        np.multiply(shifted, steepness, out=back)
        np.multiply(gradient, scale, out=target)
        np.add(target, back, out=target)
        np.add(target, constant, out=target)

    each_block([dy, x, dx], [factor, slope, offset, *([] if centre is None else [centre])], body)


def _scaled(dy: np.ndarray, factor: np.ndarray, dx: np.ndarray) -> None:
    """dx = dy * factor by column."""
    each_block([dy, dx], [factor], lambda block, target, scale: np.multiply(block, scale, out=target))


def gradient_shapes(
    y_backprop: Spec, x: Spec, scale: Spec, *others: Spec, data_format: str = "NHWC", **attrs: Any
) -> list[Shape]:
    vector = merge((channels_of(x.shape, data_format),), scale.shape)
    return [merge(y_backprop.shape, x.shape), vector, vector, (), ()]


def backward(
    dy: np.ndarray, x: np.ndarray, scale: np.ndarray, mean: np.ndarray, variance: np.ndarray, epsilon: float,
    data_format: str, is_training: bool, out: tuple[np.ndarray | None, ...],
    activation: tuple[Body, np.ndarray] | None = None,
) -> Outputs:  # fmt: skip
    """activation: the gradient that dy has to pass first, body(out, gradients, features), and its features as x."""
    if dy.shape != x.shape:
        raise InvalidArgument(
            f"x and y_backprop must have same shape, but x has shape {shape_text(x.shape)} "
            f"and y_backprop has shape {shape_text(dy.shape)}"
        )
    shapes = (scale.shape, mean.shape, variance.shape)
    check_channels(x.shape, data_format, ("scale", "reserve_space_1", "reserve_space_2"), *shapes)
    gradient, matrix = as_matrix(dy, data_format), as_matrix(x, data_format)
    is_near = is_near_zero(mean * mean, variance)
    centre = None if is_near else mean
    whole = result_buffer(x, data_format, out[0])
    dx = as_matrix(whole)
    if activation is None:
        sums = _sums(gradient, matrix, centre)
    else:
        body, features = activation
        sums = _sums(gradient, matrix, centre, Through(body, as_matrix(features, data_format), dx))
        gradient = dx
    total, product = sums[0], sums[1]
    if is_near:
        product -= mean * total
    precision = np.reciprocal(variance.astype(DOUBLE) + number(epsilon, DOUBLE))
    inverse = np.sqrt(precision)
    factor = scale * inverse
    scale_gradient = product * inverse
    if is_training:
        share = factor * number(-1.0 / max(len(matrix), 1), DOUBLE)
        constant, slope = total * share, product * share * precision
        if is_near:
            constant -= mean * slope
        _combine(gradient, matrix, factor, slope, constant, centre, dx)
    else:
        _scaled(gradient, factor, dx)
    vectors = stored_vectors((scale_gradient, total), out[1:3])
    return (stored(whole, x, data_format, out[0]), *vectors, _zero(out[3]), _zero(out[4]))


def _zero(out: np.ndarray | None) -> np.ndarray:
    """One of the outputs that hold nothing."""
    made = np.empty((), np.float32) if out is None else out
    made.fill(0)
    return made


@kernel("FusedBatchNormGrad", unit="vector", shape=gradient_shapes, dtypes=ONE_TYPE, estimate=per_element(12), inplace=(0,))
@kernel("FusedBatchNormGradV2", unit="vector", shape=gradient_shapes, dtypes=TYPES, estimate=per_element(12), inplace=(0,))
def fused_batch_norm_grad(
    y_backprop: np.ndarray, x: np.ndarray, scale: np.ndarray, reserve_space_1: np.ndarray, reserve_space_2: np.ndarray, /, *,
    epsilon: float = 1e-4, data_format: str = "NHWC", is_training: bool = True,
    out: tuple[np.ndarray | None, ...] | None = None,
) -> Outputs:  # fmt: skip
    """Gradients of FusedBatchNorm by x, scale and offset.

    y_backprop: gradient of y.  x, scale: the forward inputs.  reserve_space_1, reserve_space_2: (C,) fp32, mean and variance
    that the forward pass used.  Returns: gradient of x as x; of scale and of offset (C,) fp32; two scalar zeros.
    Raises: InvalidArgument for another rank, shape or number of channels.
    Source: TensorFlow core/kernels/fused_batch_norm_op.cc, FusedBatchNormGrad and FusedBatchNormFreezeGrad.
    """
    buffers = out or (None,) * 5
    return backward(y_backprop, x, scale, reserve_space_1, reserve_space_2, epsilon, data_format, is_training, buffers)


@kernel("FusedBatchNormGradV3", unit="vector", shape=gradient_shapes, dtypes=TYPES, estimate=per_element(12), inplace=(0,))
def fused_batch_norm_grad_v3(
    y_backprop: np.ndarray, x: np.ndarray, scale: np.ndarray, reserve_space_1: np.ndarray, reserve_space_2: np.ndarray,
    reserve_space_3: np.ndarray, /, *, epsilon: float = 1e-4, data_format: str = "NHWC", is_training: bool = True,
    out: tuple[np.ndarray | None, ...] | None = None,
) -> Outputs:  # fmt: skip
    """FusedBatchNormGrad with the forward pass's empty sixth output as an input that is not used.

    Source: TensorFlow op `FusedBatchNormGradV3`.
    """
    buffers = out or (None,) * 5
    return backward(y_backprop, x, scale, reserve_space_1, reserve_space_2, epsilon, data_format, is_training, buffers)
