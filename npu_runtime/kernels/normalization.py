"""Batch normalisation, fused: statistics in one pass over memory, the result in a second."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.cost.work import per_element
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.access import shape_text
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.columns import add_up, add_up_products, block_sums, each_block
from npu_runtime.kernels.parallel import scratch
from npu_runtime.kernels.precision import store, wide_buffer, widen
from npu_runtime.kernels.shapes import merge

Outputs = tuple[np.ndarray, ...]
ONE_TYPE = frozenset({"float32"})
TYPES = {"T": dt.FLOATS, "U": ONE_TYPE}


def is_channels_first(data_format: str) -> bool:
    return data_format in ("NCHW", "NCDHW")


def _channels_last(x: np.ndarray, data_format: str) -> np.ndarray:
    return np.moveaxis(x, 1, -1) if is_channels_first(data_format) else x


def as_matrix(x: np.ndarray, data_format: str) -> np.ndarray:
    """(pixels, C) fp32, contiguous; a view where x allows."""
    last = np.ascontiguousarray(_channels_last(widen(x), data_format))
    return last.reshape(math.prod(last.shape[:-1]), last.shape[-1])


def stored(y: np.ndarray, like: np.ndarray, data_format: str, out: np.ndarray | None) -> np.ndarray:
    """The (pixels, C) result in the shape, layout and type of `like`."""
    if is_channels_first(data_format):
        y = np.moveaxis(y.reshape(_channels_last(like, data_format).shape), -1, 1)
        return store(np.ascontiguousarray(y), like.dtype, out)
    return store(y.reshape(like.shape), like.dtype, out)


def stored_vectors(vectors: Sequence[np.ndarray], out: Sequence[np.ndarray | None]) -> Outputs:
    return tuple(store(v, np.dtype(np.float32), buffer) for v, buffer in zip(vectors, out, strict=True))


def matrix_buffer(shape: tuple[int, ...], like: np.ndarray, data_format: str, out: np.ndarray | None) -> np.ndarray:
    """Where to compute a (pixels, C) result: in `out` where it has that layout and type."""
    fits = not is_channels_first(data_format)
    return wide_buffer(like.shape, like.dtype, out).reshape(shape) if fits else np.empty(shape, np.float32)


def is_near_zero(mean: np.ndarray, variance: np.ndarray) -> bool:
    """Whether no mean is beyond four deviations: sums of uncentred values then lose less than two bits or so."""
    return not (np.square(mean) > 16.0 * variance).any()


def moments(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance (divided by the count) of each column.  x: (pixels, C) fp32.  Returns: (C,) float64 each.

    One pass over memory where the means are near zero; else a second one, centred on the means of the first.
    """
    mean, square = _means(x, None)
    variance = np.maximum(square - mean * mean, 0.0)
    if is_near_zero(mean, variance):
        return mean, variance
    centre = mean.astype(np.float32)
    rest, square = _means(x, centre)
    return centre + rest, square - rest * rest


def _means(x: np.ndarray, centre: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Means of x - centre and of its square."""

    def body(block: np.ndarray, *rest: np.ndarray) -> None:
        *centres, totals = rest
        shifted = np.subtract(block, centres[0], out=scratch("moments", block.shape)) if centres else block
        add_up(shifted, totals[0])
        add_up_products(shifted, shifted, totals[1])

    sums = block_sums([x], [] if centre is None else [centre], 2, body) / max(len(x), 1)
    return sums[0], sums[1]


def normalize(
    x: np.ndarray, mean: np.ndarray, factor: np.ndarray, offset: np.ndarray, y: np.ndarray,
    side: Sequence[np.ndarray] = (), finish: Callable[[np.ndarray], None] | None = None,
) -> None:  # fmt: skip
    """y = (x - mean) * factor + offset by column.  x, y: (pixels, C) fp32; they may be the same.

    With means within a few deviations of zero, x * factor + (offset - mean * factor) is as exact and a pass less.
    side: added to the result.  finish: changes finished blocks in place, while they are in cache.
    """
    shift = mean * factor
    is_near = np.abs(shift).max(initial=0.0) < 4.0 * max(1.0, np.abs(offset).max(initial=0.0))

    def body(block: np.ndarray, target: np.ndarray, *rest: np.ndarray) -> None:
        *others, scale, constant = rest
        sides, centres = others[: len(side)], others[len(side) :]
        shifted = np.subtract(block, centres[0], out=target) if centres else block
        np.multiply(shifted, scale, out=target)
        np.add(target, constant, out=target)
        for added in sides:
            np.add(target, added, out=target)
        if finish is not None:
            finish(target)

    vectors = [factor, offset - shift] if is_near else [mean, factor, offset]
    each_block([x, y, *side], vectors, body)


def check_channels(x: np.ndarray, vectors: dict[str, np.ndarray], data_format: str) -> int:
    """The number of channels. Source: TensorFlow core/kernels/fused_batch_norm_op.cc."""
    rank = 5 if data_format in ("NDHWC", "NCDHW") else 4
    if x.ndim != rank:
        raise InvalidArgument(f"input must be {rank}-dimensional: {shape_text(x.shape)}")
    channels = x.shape[1] if is_channels_first(data_format) else x.shape[-1]
    for name, vector in vectors.items():
        if vector.shape != (channels,):
            raise InvalidArgument(
                f"{name} must have the same number of elements as the channels of x, got "
                f"{shape_text(vector.shape)} and {channels}"
            )
    return channels


def channels_of(shape: Shape, data_format: str) -> int | None:
    return None if not shape else shape[1 if is_channels_first(data_format) else -1]


def _shapes(x: Spec, scale: Spec, *others: Spec, data_format: str = "NHWC", **attrs: Any) -> list[Shape]:
    vector = merge((channels_of(x.shape, data_format),), scale.shape)
    return [x.shape, vector, vector, vector, vector]


def shapes_v3(x: Spec, scale: Spec, *others: Spec, data_format: str = "NHWC", **attrs: Any) -> list[Shape]:
    return [*_shapes(x, scale, data_format=data_format), (0,)]


def _running(old: np.ndarray, new: np.ndarray, share: float) -> np.ndarray:
    """What the caller keeps between steps: the new statistic, or an average with the old one."""
    return new if share == 1.0 else old * np.float32(1.0 - share) + new * np.float32(share)


def forward(
    x: np.ndarray, scale: np.ndarray, offset: np.ndarray, mean: np.ndarray, variance: np.ndarray, epsilon: float,
    exponential_avg_factor: float, data_format: str, is_training: bool, out: tuple[np.ndarray | None, ...],
    side: Sequence[np.ndarray] = (), finish: Callable[[np.ndarray], None] | None = None,
) -> Outputs:  # fmt: skip
    """The first five outputs; side and finish: see `normalize`."""
    vectors = {"scale": scale, "offset": offset}
    if not is_training or exponential_avg_factor != 1.0:
        vectors |= {"mean": mean, "variance": variance}
    channels = check_channels(x, vectors, data_format)
    matrix = as_matrix(x, data_format)
    used_mean, used_variance = moments(matrix) if is_training else (mean, variance)
    used_mean, used_variance = used_mean.astype(np.float32), used_variance.astype(np.float32)
    y = matrix_buffer(matrix.shape, x, data_format, out[0])
    normalize(matrix, used_mean, scale / np.sqrt(used_variance + np.float32(epsilon)), offset, y, side, finish)
    kept = [used_mean, used_variance]
    if is_training:
        unbiased = used_variance * np.float32(len(matrix) / max(len(matrix) - 1, 1))  # Bessel's correction
        kept = [_running(mean, used_mean, exponential_avg_factor), _running(variance, unbiased, exponential_avg_factor)]
        if not len(matrix):
            kept = [np.full(channels, np.nan, np.float32)] * 2
    return (stored(y, x, data_format, out[0]), *stored_vectors([*kept, used_mean, used_variance], out[1:5]))


@kernel("FusedBatchNorm", unit="vector", shape=_shapes, dtypes=ONE_TYPE, estimate=per_element(8), inplace=(0,))
@kernel("FusedBatchNormV2", unit="vector", shape=_shapes, dtypes=TYPES, estimate=per_element(8), inplace=(0,))
def fused_batch_norm(
    x: np.ndarray, scale: np.ndarray, offset: np.ndarray, mean: np.ndarray, variance: np.ndarray, /, *, epsilon: float = 1e-4,
    exponential_avg_factor: float = 1.0, data_format: str = "NHWC", is_training: bool = True,
    out: tuple[np.ndarray | None, ...] | None = None,
) -> Outputs:  # fmt: skip
    """(x - mean) / sqrt(variance + epsilon) * scale + offset by channel, with the batch's statistics when training.

    x: (N, H, W, C), or (N, C, H, W) with data_format NCHW.  scale, offset: (C,) fp32.  mean, variance: (C,) fp32, or empty
    when training with exponential_avg_factor 1.  Returns: y as x; batch_mean and batch_variance (C,) to keep (the variance
    with Bessel's correction, both averaged with the inputs by exponential_avg_factor); mean and variance used.
    Raises: InvalidArgument for another rank or number of channels.  Source: TensorFlow op `FusedBatchNorm`.
    """
    buffers = out or (None,) * 5
    return forward(x, scale, offset, mean, variance, epsilon, exponential_avg_factor, data_format, is_training, buffers)


@kernel("FusedBatchNormV3", unit="vector", shape=shapes_v3, dtypes=TYPES, estimate=per_element(8), inplace=(0,))
def fused_batch_norm_v3(
    x: np.ndarray, scale: np.ndarray, offset: np.ndarray, mean: np.ndarray, variance: np.ndarray, /, *, epsilon: float = 1e-4,
    exponential_avg_factor: float = 1.0, data_format: str = "NHWC", is_training: bool = True,
    out: tuple[np.ndarray | None, ...] | None = None,
) -> Outputs:  # fmt: skip
    """FusedBatchNorm with a sixth, empty output, also for NDHWC and NCDHW.  Source: TensorFlow op `FusedBatchNormV3`."""
    buffers = out or (None,) * 6
    made = forward(x, scale, offset, mean, variance, epsilon, exponential_avg_factor, data_format, is_training, buffers)
    return (*made, np.empty(0, np.float32) if buffers[5] is None else buffers[5])
