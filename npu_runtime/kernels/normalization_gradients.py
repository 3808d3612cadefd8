"""Gradients of fused batch normalisation."""

from __future__ import annotations

from typing import Any

import numpy as np

from npu_runtime.cost.work import per_element
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.access import shape_text
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.columns import add_up, add_up_products, block_sums, each_block
from npu_runtime.kernels.normalization import (
    ONE_TYPE,
    TYPES,
    Outputs,
    as_matrix,
    channels_of,
    check_channels,
    is_near_zero,
    matrix_buffer,
    stored,
    stored_vectors,
)
from npu_runtime.kernels.parallel import scratch
from npu_runtime.kernels.shapes import merge


def _sums(dy: np.ndarray, x: np.ndarray, centre: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Sums of dy and of dy * (x - centre) by column.  dy, x: (pixels, C) fp32.  Returns: (C,) float64 each."""

    def body(gradient: np.ndarray, block: np.ndarray, *rest: np.ndarray) -> None:
        *centres, totals = rest
        shifted = np.subtract(block, centres[0], out=scratch("normalization", block.shape)) if centres else block
        add_up(gradient, totals[0])
        add_up_products(shifted, gradient, totals[1])

    sums = block_sums([dy, x], [] if centre is None else [centre], 2, body)
    return sums[0], sums[1]


def _combine(
    dy: np.ndarray, x: np.ndarray, factor: np.ndarray, slope: np.ndarray, offset: np.ndarray, centre: np.ndarray | None,
    dx: np.ndarray,
) -> None:  # fmt: skip
    """dx = dy * factor - (x - centre) * slope + offset by column.  dx may be dy or x."""

    def body(gradient: np.ndarray, block: np.ndarray, target: np.ndarray, *vectors: np.ndarray) -> None:
        scale, steepness, constant, *centres = vectors
        back = scratch("normalization", block.shape)
        shifted = np.subtract(block, centres[0], out=back) if centres else block
        np.multiply(shifted, steepness, out=back)
        np.multiply(gradient, scale, out=target)
        np.subtract(target, back, out=target)
        np.add(target, constant, out=target)

    each_block([dy, x, dx], [factor, slope, offset, *([] if centre is None else [centre])], body)


def _scaled(dy: np.ndarray, factor: np.ndarray, dx: np.ndarray) -> None:
    """dx = dy * factor by column."""
    each_block([dy, dx], [factor], lambda block, target, scale: np.multiply(block, scale, out=target))


def _shapes(y_backprop: Spec, x: Spec, scale: Spec, *others: Spec, data_format: str = "NHWC", **attrs: Any) -> list[Shape]:
    vector = merge((channels_of(x.shape, data_format),), scale.shape)
    return [merge(y_backprop.shape, x.shape), vector, vector, (), ()]


def _backward(
    dy: np.ndarray, x: np.ndarray, scale: np.ndarray, mean: np.ndarray, variance: np.ndarray, epsilon: float,
    data_format: str, is_training: bool, out: tuple[np.ndarray | None, ...],
) -> Outputs:  # fmt: skip
    if dy.shape != x.shape:
        raise InvalidArgument(
            f"x and y_backprop must have same shape, but x has shape {shape_text(x.shape)} "
            f"and y_backprop has shape {shape_text(dy.shape)}"
        )
    check_channels(x, {"scale": scale, "reserve_space_1": mean, "reserve_space_2": variance}, data_format)
    gradient, matrix = as_matrix(dy, data_format), as_matrix(x, data_format)
    pixels = max(len(matrix), 1)
    inverse = 1.0 / np.sqrt(variance.astype(np.float64) + epsilon)
    centre = None if is_near_zero(mean, variance) else mean
    behind = mean.astype(np.float64) if centre is None else np.zeros(len(mean))
    total, product = _sums(gradient, matrix, centre)
    product -= behind * total
    factor = scale * inverse
    dx = matrix_buffer(matrix.shape, x, data_format, out[0])
    if is_training:
        slope = product * inverse * inverse / pixels * factor
        offset = behind * slope - total / pixels * factor
        vectors = np.stack([factor, slope, offset]).astype(np.float32)
        _combine(gradient, matrix, vectors[0], vectors[1], vectors[2], centre, dx)
    else:
        _scaled(gradient, factor.astype(np.float32), dx)
    nothing = np.zeros((), np.float32)
    return (stored(dx, x, data_format, out[0]), *stored_vectors([product * inverse, total, nothing, nothing], out[1:5]))


@kernel("FusedBatchNormGrad", unit="vector", shape=_shapes, dtypes=ONE_TYPE, estimate=per_element(12), inplace=(0,))
@kernel("FusedBatchNormGradV2", unit="vector", shape=_shapes, dtypes=TYPES, estimate=per_element(12), inplace=(0,))
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
    return _backward(y_backprop, x, scale, reserve_space_1, reserve_space_2, epsilon, data_format, is_training, buffers)


@kernel("FusedBatchNormGradV3", unit="vector", shape=_shapes, dtypes=TYPES, estimate=per_element(12), inplace=(0,))
def fused_batch_norm_grad_v3(
    y_backprop: np.ndarray, x: np.ndarray, scale: np.ndarray, reserve_space_1: np.ndarray, reserve_space_2: np.ndarray,
    reserve_space_3: np.ndarray, /, *, epsilon: float = 1e-4, data_format: str = "NHWC", is_training: bool = True,
    out: tuple[np.ndarray | None, ...] | None = None,
) -> Outputs:  # fmt: skip
    """FusedBatchNormGrad with the forward pass's empty sixth output as an input that is not used.

    Source: TensorFlow op `FusedBatchNormGradV3`.
    """
    buffers = out or (None,) * 5
    return _backward(y_backprop, x, scale, reserve_space_1, reserve_space_2, epsilon, data_format, is_training, buffers)
