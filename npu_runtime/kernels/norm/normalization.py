"""Batch normalisation, fused: statistics in one pass over memory, the result in a second."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.cost.work import per_element
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.half_storage import store, widen
from npu_runtime.kernels.native import normalization_loops
from npu_runtime.kernels.shapes import merge
from npu_runtime.kernels.threads.parallel import scratch
from npu_runtime.kernels.threads.per_channel import add_up, add_up_products, block_sums, each_block
from npu_runtime.kernels.variable_access import shape_text

Outputs = tuple[np.ndarray, ...]
ONE_TYPE = frozenset({"float32"})
SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
_SIXTEEN = np.array(16.0)
TYPES = {"T": dt.FLOATS, "U": ONE_TYPE}


def is_channels_first(data_format: str) -> bool:
    return data_format in ("NCHW", "NCDHW")


@lru_cache(maxsize=1024)
def number(value: float, dtype: np.dtype = SINGLE) -> np.ndarray:
    """A number without dimensions, for numpy to work with, which takes twice as long with one of Python."""
    return np.array(value, dtype)


def _channels_last(x: np.ndarray, data_format: str) -> np.ndarray:
    return np.moveaxis(x, 1, -1) if is_channels_first(data_format) else x


def as_matrix(x: np.ndarray, data_format: str = "NHWC") -> np.ndarray:
    """(pixels, C) fp32, contiguous; a view where x allows."""
    if x.dtype != SINGLE or is_channels_first(data_format) or not x.flags.c_contiguous:
        x = np.ascontiguousarray(_channels_last(widen(x), data_format))
    return x.reshape(-1 if x.size else math.prod(x.shape[:-1]), x.shape[-1])


def result_buffer(like: np.ndarray, data_format: str, out: np.ndarray | None) -> np.ndarray:
    """The array in which to compute a result as `like`, channels last in fp32: `out` if it has both, else a new one."""
    if is_channels_first(data_format):
        return np.empty(_channels_last(like, data_format).shape, np.float32)
    fits = out is not None and out.dtype == SINGLE and out.flags.c_contiguous
    return out if out is not None and fits else np.empty(like.shape, np.float32)


def stored(y: np.ndarray, like: np.ndarray, data_format: str, out: np.ndarray | None) -> np.ndarray:
    """A result computed in `result_buffer`, in the layout and type of `like`."""
    if is_channels_first(data_format):
        y = np.ascontiguousarray(np.moveaxis(y, -1, 1))
    return y if y is out else store(y, like.dtype, out)


def stored_vectors(vectors: Sequence[np.ndarray], out: Sequence[np.ndarray | None]) -> Outputs:
    """Vectors in fp32, in their buffers where there are some."""
    made = []
    for vector, buffer in zip(vectors, out, strict=True):
        if buffer is not None and buffer is not vector:
            buffer[...] = vector  # np.copyto goes through Python
        made.append(vector.astype(SINGLE, copy=False) if buffer is None else buffer)
    return tuple(made)


def is_near_zero(squared_mean: np.ndarray, variance: np.ndarray) -> bool:
    """Whether no mean is beyond four deviations: sums of uncentred values then lose less than two bits or so."""
    is_beyond = squared_mean > _SIXTEEN * variance
    return not is_beyond.nonzero()[0].size  # any() goes through Python


def moments(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, bool]:
    """Mean and variance (divided by the count) of each column.  x: (pixels, C) fp32.

    One pass over memory where the means are near zero; else a second one, centred on the means of the first.
    Returns: (C,) float64 each, and `is_near_zero`.
    """
    mean, square = _means(x, None)
    squared_mean = mean * mean
    variance = square - squared_mean
    if is_near_zero(squared_mean, variance):
        return mean, variance, True
    centre = mean.astype(SINGLE)
    rest, square = _means(x, centre)
    return centre + rest, square - rest * rest, False


def _means(x: np.ndarray, centre: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Means of x - centre and of its square.  Returns: (C,) float64 each."""

    def body(block: np.ndarray, *rest: np.ndarray) -> None:
        *centres, totals = rest
        shifted = np.subtract(block, centres[0], out=scratch("moments", block.shape)) if centres else block
        add_up(shifted, totals[0])
        add_up_products(shifted, shifted, totals[1])

    sums = block_sums([x], [] if centre is None else [centre], 2, body, max(len(x), 1))
    return sums[0], sums[1]


def normalize(
    x: np.ndarray, mean: np.ndarray, factor: np.ndarray, offset: np.ndarray, is_near: bool, y: np.ndarray,
    side: Sequence[np.ndarray] = (), finish: Callable[[np.ndarray], None] | None = None,
) -> None:  # fmt: skip
    """y = (x - mean) * factor + offset by column.  x, y: (pixels, C) fp32; they may be the same.

    is_near: the means are within a few deviations of zero; x * factor + (offset - mean * factor) is as exact then, and a
    pass less.  side: added to the result.  finish: changes finished blocks in place, while they are in cache.
    """

    def body(block: np.ndarray, target: np.ndarray, *rest: np.ndarray) -> None:
        *others, scale, constant = rest
        sides, centres = others[: len(side)], others[len(side) :]
        shifted = np.subtract(block, centres[0], out=target) if centres else block
        if not _scale_and_shift(shifted, target, scale, constant, sides):
            np.multiply(shifted, scale, out=target)
            np.add(target, constant, out=target)
            for added in sides:
                np.add(target, added, out=target)
        if finish is not None:
            finish(target)

    vectors = [factor, offset - mean * factor] if is_near else [mean, factor, offset]
    each_block([x, y, *side], vectors, body)


def _scale_and_shift(x: np.ndarray, y: np.ndarray, scale: np.ndarray, constant: np.ndarray, sides: Sequence[np.ndarray]) -> bool:
    """y = x * scale + constant + sides by a compiled loop; False where there is none."""
    if len(sides) == 1:
        return normalization_loops.scale_shift_and_add(x, y, sides[0], scale, constant)
    return not sides and normalization_loops.scale_and_shift(x, y, scale, constant)


@lru_cache(maxsize=1024)
def check_channels(shape: tuple[int, ...], data_format: str, names: tuple[str, ...], *vectors: tuple[int, ...]) -> None:
    """Checks that x of a shape and vectors of these belong together.  Source: TensorFlow core/kernels/fused_batch_norm_op.cc."""
    rank = 5 if data_format in ("NDHWC", "NCDHW") else 4
    if len(shape) != rank:
        raise InvalidArgument(f"input must be {rank}-dimensional: {shape_text(shape)}")
    channels = shape[1] if is_channels_first(data_format) else shape[-1]
    for name, vector in zip(names, vectors, strict=True):
        if vector != (channels,):
            raise InvalidArgument(
                f"{name} must have the same number of elements as the channels of x, got {shape_text(vector)} and {channels}"
            )


def check_vectors(shape: tuple[int, ...], data_format: str, vectors: Sequence[np.ndarray], reads_statistics: bool) -> None:
    """`check_channels` for scale, offset, and mean and variance if they are read."""
    count = 4 if reads_statistics else 2
    check_channels(shape, data_format, ("scale", "offset", "mean", "variance")[:count], *(v.shape for v in vectors[:count]))


def channels_of(shape: Shape, data_format: str) -> int | None:
    return None if not shape else shape[1 if is_channels_first(data_format) else -1]


def _shapes(x: Spec, scale: Spec, *others: Spec, data_format: str = "NHWC", **attrs: Any) -> list[Shape]:
    vector = merge((channels_of(x.shape, data_format),), scale.shape)
    return [x.shape, vector, vector, vector, vector]


def shapes_v3(x: Spec, scale: Spec, *others: Spec, data_format: str = "NHWC", **attrs: Any) -> list[Shape]:
    return [*_shapes(x, scale, data_format=data_format), (0,)]


def forward(
    x: np.ndarray, scale: np.ndarray, offset: np.ndarray, mean: np.ndarray, variance: np.ndarray, epsilon: float,
    exponential_avg_factor: float, data_format: str, is_training: bool, out: tuple[np.ndarray | None, ...],
    side: Sequence[np.ndarray] = (), finish: Callable[[np.ndarray], None] | None = None,
) -> Outputs:  # fmt: skip
    """The first five outputs; side and finish: see `normalize`."""
    reads_statistics = not is_training or exponential_avg_factor != 1.0
    check_vectors(x.shape, data_format, (scale, offset, mean, variance), reads_statistics)
    matrix = as_matrix(x, data_format)
    kept: Outputs = (mean, variance)
    if is_training:
        batch_mean, batch_variance, is_near = moments(matrix)
        kept = kept_statistics(len(matrix), mean, variance, batch_mean, batch_variance, exponential_avg_factor)
        mean, variance = stored_vectors((batch_mean, batch_variance), out[3:5])
    factor = variance + number(epsilon)
    if not is_training:
        is_near = is_near_zero(mean * mean, factor)
    np.divide(scale, np.sqrt(factor, factor), factor)
    y = result_buffer(x, data_format, out[0])
    normalize(matrix, mean, factor, offset, is_near, as_matrix(y), side, finish)
    return (stored(y, x, data_format, out[0]), *stored_vectors((*kept, mean, variance), out[1:5]))


def kept_statistics(
    pixels: int, old_mean: np.ndarray, old_variance: np.ndarray, mean: np.ndarray, variance: np.ndarray, share: float
) -> Outputs:
    """The statistics that the caller keeps between steps, or their averages with the old; the variance has Bessel's correction.

    NaN without pixels.
    """
    if not pixels:
        return (np.full(len(mean), np.nan, np.float32),) * 2
    unbiased = variance * number(pixels / max(pixels - 1, 1), DOUBLE)
    if share == 1.0:
        return mean, unbiased
    rest, part = np.float32(1.0 - share), np.float32(share)
    return old_mean * rest + mean.astype(SINGLE) * part, old_variance * rest + unbiased.astype(SINGLE) * part


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
