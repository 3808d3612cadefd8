"""Local response normalisation over neighbouring channels, and its gradient."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from npu_runtime.cost.work import Estimate, n_elements
from npu_runtime.errors import InvalidArgument
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.half_storage import store, wide_buffer, widen
from npu_runtime.kernels.linalg.serial_products import multiply_stacked
from npu_runtime.kernels.native import channel_loops
from npu_runtime.kernels.shapes import same_as
from npu_runtime.kernels.threads.parallel import parallel_ranges, scratch
from npu_runtime.kernels.variable_access import shape_text
from npu_runtime.kernels.windows.windows import check_rank, refuse_ranks

TYPES = frozenset({"float16", "float32"})
MOST_BY_PRODUCT = 128
"""Channels up to which a product with a band of ones is faster than passes over lines: 0.3 against 0.9 ms for 12,800 times 32."""
BLOCK_ELEMENTS = 1 << 18
"""Elements of a block; of fewer, calls of numpy are so short that threads wait for Python's lock: 16,384 took twice as long."""
ROOTS = {1.0: 0, 0.5: 1, 0.75: 2}
"""The exponents that `inverse_power` makes by square roots, as compiled loops are told of them."""


def _flops(each: float, passes: int) -> Estimate:
    """`each` an element and a window's additions in each of `passes`; TensorFlow's profiler registers none."""
    return lambda inputs, outputs, attrs: n_elements(inputs[0]) * (each + passes * 2.0 * attrs.get("depth_radius", 5))


@lru_cache(maxsize=64)
def _band(channels: int, radius: int) -> np.ndarray:
    """The matrix that adds each channel and its neighbours, (C, C) of ones and zeros."""
    apart = np.abs(np.subtract.outer(np.arange(channels), np.arange(channels)))
    return np.asarray(apart <= radius, np.float32)


def window_sums(values: np.ndarray, radius: int, name: str) -> np.ndarray:
    """Sum of each channel and its `radius` neighbours on both sides.  values: (pixels, C).  Returns: (pixels, C) in scratch."""
    if values.shape[1] <= MOST_BY_PRODUCT:
        sums = scratch(f"{name} sums", values.shape)
        multiply_stacked(values, _band(values.shape[1], radius), sums)
        flat = sums.reshape(-1)
        if np.isfinite(np.dot(flat, flat)):  # else a product with zero may have put NaN where it does not belong
            return sums
    return _sums_by_lines(values, radius, name)


def _sums_by_lines(values: np.ndarray, radius: int, name: str) -> np.ndarray:
    """The same in a few passes, whatever the channels and values.

    The pixels lie in one line with zeros between them, so every addition is one contiguous pass; sums over 1, 2, 4, 8 ...
    neighbours double, and those that make up the window are added.
    """
    pixels, channels = values.shape
    width = channels + 2 * radius
    line = scratch(f"{name} line", (pixels * width + 2 * radius,))
    framed = line[: pixels * width].reshape(pixels, width)
    framed[:, :radius] = 0
    framed[:, radius + channels :] = 0
    framed[:, radius : radius + channels] = values
    line[pixels * width :] = 0
    total = scratch(f"{name} sums", (pixels * width,))
    total.fill(0)
    spare = scratch(f"{name} spare", line.shape)
    done, span, window = 0, 1, 2 * radius + 1
    while span <= window:
        if window & span:
            np.add(total, line[done : done + total.size], out=total)
            done += span
        np.add(line[:-span], line[span:], out=spare[:-span])
        line, spare, span = spare[:-span], line[:-span], 2 * span
    return total.reshape(pixels, width)[:, :channels]


def inverse_power(base: np.ndarray, beta: float) -> np.ndarray:
    """base ** -beta in scratch; the usual exponents by square roots, which are exact to the last bit or two and fast."""
    made = scratch("lrn power", base.shape)
    if beta == 1.0:
        return np.reciprocal(base, out=made)
    if beta not in (0.5, 0.75):
        return np.power(base, np.float32(-beta), out=made)
    np.sqrt(base, out=made)
    if beta == 0.75:
        np.multiply(made, np.sqrt(made, out=scratch("lrn root", base.shape)), out=made)
    return np.reciprocal(made, out=made)


def _norm(x: np.ndarray, radius: int, bias: float, alpha: float) -> np.ndarray:
    """bias + alpha * sum of squares around each channel, in scratch."""
    norm = _squares_around(x, radius)
    np.multiply(norm, np.float32(alpha), out=norm)
    return np.add(norm, np.float32(bias), out=scratch("lrn squares", x.shape))


def _squares_around(x: np.ndarray, radius: int) -> np.ndarray:
    """The sum of squares around each channel, in scratch."""
    squares = scratch("lrn squares", x.shape)
    np.multiply(x, x, out=squares)
    return window_sums(squares, radius, "lrn")


def _by_loop(x: np.ndarray, y: np.ndarray, radius: int, bias: float, alpha: float, beta: float) -> bool:
    """LRN of a block by a compiled loop, with the same bits; False where there is none."""
    if beta not in ROOTS or x.shape[1] > MOST_BY_PRODUCT or not channel_loops.normalize.is_ready:
        return False
    sums = _squares_around(x, radius)
    numbers = np.float32(alpha), np.float32(bias), ROOTS[beta]
    return sums.flags.c_contiguous and channel_loops.normalize(*_flat(x, sums, y), *numbers)


def _gradient_by_loops(
    dy: np.ndarray, x: np.ndarray, y: np.ndarray, dx: np.ndarray, radius: int, bias: float, alpha: float, beta: float
) -> bool:  # fmt: skip
    """LRNGrad of a block by compiled loops, with the same bits; False where there are none."""
    loops = (channel_loops.begin_gradient, channel_loops.end_gradient)
    if beta not in ROOTS or x.shape[1] > MOST_BY_PRODUCT or not all(loop.is_ready for loop in loops):
        return False
    sums, direct = _squares_around(x, radius), scratch("lrn power", x.shape)
    numbers = np.float32(alpha), np.float32(bias), ROOTS[beta]
    if not sums.flags.c_contiguous or not loops[0](*_flat(dy, y, sums, direct, dx), *numbers):
        return False
    shared = window_sums(dx, radius, "lrn")
    factor = np.float32(-2.0 * alpha * beta)
    return shared.flags.c_contiguous and loops[1](*_flat(shared, x, direct, dx), factor)


def _flat(*blocks: np.ndarray) -> list[np.ndarray]:
    return [block.reshape(-1) for block in blocks]


def _each_block(arrays: list[np.ndarray], body: Callable[..., None]) -> None:
    """body(*blocks) over blocks of pixels.  arrays: (N, H, W, C) each."""
    channels = arrays[0].shape[-1]
    if arrays[0].size:
        flat = [a.reshape(math.prod(a.shape[:-1]), channels) for a in arrays]
        grain = max(1, BLOCK_ELEMENTS // channels)
        parallel_ranges(len(flat[0]), lambda start, stop: body(*[a[start:stop] for a in flat]), grain)


@kernel("LRN", unit="vector", shape=same_as(0), dtypes=TYPES, estimate=_flops(6, 1), inplace=(0,), refuse=refuse_ranks(0))
def lrn(
    input: np.ndarray, /, *, depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0, beta: float = 0.5,
    out: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """input / (bias + alpha * sum of squares of depth_radius channels on both sides) ** beta.

    input: (N, H, W, C).  Returns: same shape.  Raises: InvalidArgument for another rank.  Source: TensorFlow op `LRN`.
    """
    check_rank("in", input.shape)
    result = wide_buffer(input.shape, input.dtype, out)

    def body(x: np.ndarray, y: np.ndarray) -> None:
        if not _by_loop(x, y, depth_radius, bias, alpha, beta):
            np.multiply(x, inverse_power(_norm(x, depth_radius, bias, alpha), beta), out=y)

    _each_block([widen(input), result], body)
    return store(result, input.dtype, out)


@kernel("LRNGrad", unit="vector", shape=same_as(0), dtypes=TYPES, estimate=_flops(11, 2), refuse=refuse_ranks(0, 1, 2))
def lrn_grad(
    input_grads: np.ndarray, input_image: np.ndarray, output_image: np.ndarray, /, *, depth_radius: int = 5, bias: float = 1.0,
    alpha: float = 1.0, beta: float = 0.5, out: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """Gradient of LRN by its input.

    input_grads: gradient of the result.  input_image, output_image: LRN's input and result, (N, H, W, C) all.
    Returns: same shape.  Source: TensorFlow core/kernels/lrn_op.cc, LaunchLRNGrad.
    """
    check_rank("in_grads", input_grads.shape)
    if not input_grads.shape == input_image.shape == output_image.shape:
        shapes = ", ".join(shape_text(x.shape) for x in (input_grads, input_image, output_image))
        raise InvalidArgument(f"input_grads, input_image, and out_image should have the same shape: {shapes}")
    result = wide_buffer(input_grads.shape, input_grads.dtype, out)

    def body(dy: np.ndarray, x: np.ndarray, y: np.ndarray, dx: np.ndarray) -> None:
        if _gradient_by_loops(dy, x, y, dx, depth_radius, bias, alpha, beta):
            return
        norm = _norm(x, depth_radius, bias, alpha)
        direct = inverse_power(norm, beta)
        np.multiply(direct, dy, out=direct)
        np.divide(np.multiply(dy, y, out=dx), norm, out=dx)
        shared = window_sums(dx, depth_radius, "lrn")
        np.multiply(shared, x, out=dx)
        np.multiply(dx, np.float32(-2.0 * alpha * beta), out=dx)
        np.add(dx, direct, out=dx)

    _each_block([widen(input_grads), widen(input_image), widen(output_image), result], body)
    return store(result, input_grads.dtype, out)
