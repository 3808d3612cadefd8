"""Convolution of images on the cube unit."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from types import ModuleType
from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.algorithm_choice import is_tuned, operand, placeholder
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.conv import column_winograd, conv_interior, conv_trials, im2col, line_winograd, winograd
from npu_runtime.kernels.conv.zero_windows import blank_windows
from npu_runtime.kernels.half_storage import compute_dtype, store, widen
from npu_runtime.kernels.linalg.epilogue import ALL, Epilogue
from npu_runtime.kernels.linalg.matmul import multiply
from npu_runtime.kernels.threads.parallel import alone, parallel_ranges
from npu_runtime.kernels.windows.windows import Axis, Layout, check_rank, refuse_ranks

Algorithm = Callable[[np.ndarray, np.ndarray, Axis, Axis, np.ndarray, "Epilogue | None"], None]
"""(x, w, rows, cols, out, epilogue), channels last, one group: see `im2col.convolve`."""


DIRECT = (conv_interior, im2col)
FILTERED = (line_winograd, column_winograd, winograd)
"""Ways whose sums hold more than the window."""
WAYS = {way.__name__.rsplit(".", 1)[1]: way for way in (*DIRECT, *FILTERED)}
"""Ways of a convolution, by the names that a bank knows them by."""
FINISHED = 1 << 17
"""Elements that an epilogue is applied to at once, where it has to come last."""
SHORT_NS = 50_000
"""Estimated time up to which a convolution stays on the thread that calls it. Calls of numpy take as much again and wait for
Python's lock, and a worker takes 40 us to begin and to end."""


def choose_algorithm(x: np.ndarray, w: np.ndarray, rows: Axis, cols: Axis, out: np.ndarray) -> Algorithm:
    """The fastest way for these shapes. Every one gives the same sums up to rounding, and zero exactly for windows of zeros."""
    if rows.is_pointwise and cols.is_pointwise and x.flags.c_contiguous and out.flags.c_contiguous:
        return pointwise
    way = fastest_way(x.shape, x.dtype, w.shape, rows, cols)
    return _by(_chosen_way(way, x, w, rows, cols, out) if is_tuned() and x.dtype == np.float32 else way)


def _by(way: ModuleType) -> Algorithm:
    return partial(_filtered, way) if way in FILTERED else way.convolve


def _chosen_way(default: ModuleType, x: np.ndarray, w: np.ndarray, rows: Axis, cols: Axis, out: np.ndarray) -> ModuleType:
    """The way that a tuner takes."""

    def prepare() -> conv_trials.Run:
        image, filter, made = operand(*x.shape), conv_trials.filter_operand(w), conv_trials.result_like(out)

        def run(way: ModuleType) -> np.ndarray:
            _by(way)(image, filter, rows, cols, made, None)
            return made

        return run

    layout = w.strides[2] < w.strides[3], out.flags.c_contiguous
    return conv_trials.chosen_way("Conv2D", WAYS, default, (x.shape, w.shape), (rows, cols), layout, prepare)


@lru_cache(maxsize=4096)
def fastest_way(
    shape: tuple[int, ...], dtype: np.dtype, filter: tuple[int, ...], rows: Axis, cols: Axis, is_direct: bool = False
) -> ModuleType:
    """The module whose `convolve` and `filter_gradient` take the least time, of all or of the direct ones.

    shape, dtype: of the image.  filter: (kernel rows, kernel columns, C, K).
    """
    x, w = placeholder(shape, dtype), placeholder(filter, dtype)
    return min(DIRECT if is_direct else (*DIRECT, *FILTERED), key=lambda way: way.cost_ns(x, w, rows, cols))


@lru_cache(maxsize=4096)
def is_short(shape: tuple[int, ...], dtype: np.dtype, filter: tuple[int, ...], rows: Axis, cols: Axis) -> bool:
    """Whether a second thread saves nothing by `fastest_way`.  Depends on shapes only; the sums are those of several threads."""
    way = fastest_way(shape, dtype, filter, rows, cols)
    return bool(way.cost_ns(placeholder(shape, dtype), placeholder(filter, dtype), rows, cols) <= SHORT_NS)


def _filtered(
    way: ModuleType, x: np.ndarray, w: np.ndarray, rows: Axis, cols: Axis, out: np.ndarray, epilogue: Epilogue | None = None
) -> None:
    """Convolves by a way whose sums hold more than the window; directly after all if one is not finite, as not all of those may
    be."""
    blank = blank_windows(x, rows, cols)
    at_once = None if blank is not None else epilogue
    doubtful: list[np.ndarray] = []

    def look(block: np.ndarray, columns: slice = ALL) -> None:
        if not is_finite(block):
            doubtful.append(block)
        elif at_once is not None:
            at_once(block, columns)

    way.convolve(x, w, rows, cols, out, look)
    if doubtful:
        fastest_way(x.shape, x.dtype, w.shape, rows, cols, True).convolve(x, w, rows, cols, out, epilogue)
    elif blank is not None:
        out[blank] = 0
        if epilogue is not None:
            _finish(out.reshape(-1, out.shape[3]), epilogue)


def _finish(pixels: np.ndarray, epilogue: Epilogue) -> None:
    """Applies an epilogue to all pixels, (n, K), in pieces that stay in cache."""
    parallel_ranges(len(pixels), lambda start, stop: epilogue(pixels[start:stop]), max(1, FINISHED // pixels.shape[1]))


def is_finite(x: np.ndarray) -> bool:
    """Whether all elements are; False as well where the sum of their squares is not.  x: float."""
    flat = x.reshape(-1)
    return bool(np.isfinite(np.dot(flat, flat)))


def split_groups(x: np.ndarray, groups: int) -> list[np.ndarray]:
    """The channels of each group.  x: (..., groups * C)."""
    return [x] if groups == 1 else np.split(x, groups, axis=-1)


def pointwise(x: np.ndarray, w: np.ndarray, rows: Axis, cols: Axis, out: np.ndarray, epilogue: Epilogue | None = None) -> None:
    """A 1x1 convolution is one matrix product over all pixels."""
    pixels = out.reshape(-1, out.shape[3])
    multiply(x.reshape(len(pixels), -1), w[0, 0], pixels, epilogue)


def convolve(x: np.ndarray, w: np.ndarray, rows: Axis, cols: Axis, out: np.ndarray, epilogue: Epilogue | None = None) -> None:
    """out = x * w, channels last.

    x: (N, H, W, groups * C).  w: (kernel rows, kernel columns, C, K).  out: (N, rows, columns, K), any strides.
    epilogue: applied to finished pieces of the result, which is contiguous then.
    """
    if out.size == 0:
        return
    if w.size == 0 or x.size == 0:
        out.fill(0)
        if epilogue is not None:
            epilogue(out.reshape(-1, out.shape[3]))
        return
    groups = x.shape[3] // w.shape[2]
    if groups == 1:
        algorithm = choose_algorithm(x, w, rows, cols, out)
        run = alone(algorithm) if is_short(x.shape, x.dtype, w.shape, rows, cols) else algorithm
        run(x, w, rows, cols, out, epilogue)
        return
    for x_part, w_part, out_part in zip(*(split_groups(array, groups) for array in (x, w, out)), strict=True):
        im2col.convolve(x_part, w_part, rows, cols, out_part)
    if epilogue is not None:
        epilogue(out.reshape(-1, out.shape[3]))


def check_depths(image: int | None, filter_depth: int | None, filters: int | None) -> None:
    """Source: TensorFlow core/kernels/conv_ops.cc, ComputeConv2DDimension; conv_ops_impl.h for the groups."""
    if image is None or not filter_depth:
        return
    if image % filter_depth:
        raise InvalidArgument(f"input depth must be evenly divisible by filter depth: {image} vs {filter_depth}")
    if filters is not None and filters % max(image // filter_depth, 1):
        raise InvalidArgument(f"output depth must be evenly divisible by number of groups: {filters} vs {image // filter_depth}")


def _filter_extents(w: Spec) -> tuple[int | None, ...]:
    if w.shape is None:
        return (None,) * 4
    check_rank("filter", w.shape)
    return w.shape


def conv_shape(
    input: Spec, filter: Spec, *, strides: Sequence[int], padding: str, explicit_paddings: Sequence[int] = (),
    data_format: str = "NHWC", dilations: Sequence[int] = (1, 1, 1, 1),
) -> Shape:  # fmt: skip
    layout = Layout.of(strides, padding, data_format, dilations, explicit_paddings)
    if input.shape is not None:
        check_rank("input", input.shape)
    extents = _filter_extents(filter)
    check_depths(layout.channels(input.shape), extents[2], extents[3])
    return layout.out_shape(input.shape, extents[:2], extents[3])


def conv_flops(inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: dict[str, Any]) -> float:
    """2 a tap and output.  Source: TensorFlow python/ops/nn_ops.py, _calc_conv_flops."""
    rows, cols, depth, _ = inputs[1].known_shape()
    return 2.0 * math.prod(outputs[0].known_shape()) * rows * cols * depth


def run_conv(
    x: np.ndarray, w: np.ndarray, layout: Layout, out: np.ndarray | None, epilogue: Epilogue | None = None
) -> np.ndarray:
    """The convolution of a node: checks, layout, precision.  Returns: the result in the node's type and layout."""
    check_rank("input", x.shape)
    check_rank("filter", w.shape)
    image = widen(layout.channels_last(x))
    check_depths(image.shape[3], w.shape[2], w.shape[3])
    rows, cols = layout.axes(image.shape[1:3], w.shape[:2])
    shape = (len(x), rows.out, cols.out, w.shape[3])
    fits = out is not None and out.dtype == compute_dtype(x.dtype) and out.flags.c_contiguous and not layout.is_channels_first
    result = out if fits and out is not None else np.empty(shape, compute_dtype(x.dtype))
    convolve(image, np.ascontiguousarray(widen(w)), rows, cols, result, epilogue)
    if result is out:
        return result
    return store(np.ascontiguousarray(layout.original(result)), x.dtype, out)


@kernel(
    "Conv2D", unit="cube", shape=conv_shape, dtypes=dt.FLOATS | {"int32"}, estimate=conv_flops,
    ignores=("use_cudnn_on_gpu",), refuse=refuse_ranks(0, 1),
)  # fmt: skip
def conv2d(
    input: np.ndarray, filter: np.ndarray, /, *, strides: Sequence[int], padding: str, explicit_paddings: Sequence[int] = (),
    data_format: str = "NHWC", dilations: Sequence[int] = (1, 1, 1, 1), out: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """Two-dimensional convolution (correlation: the filter is not turned).

    input: (N, H, W, groups * C), or (N, groups * C, H, W) with data_format NCHW.  filter: (kernel rows, kernel columns, C, K).
    Returns: (N, rows, columns, K) in the input's layout; 16-bit floats are summed in fp32 and rounded once.
    Raises: InvalidArgument for depths that do not divide, or a window that does not fit.
    Source: TensorFlow op `Conv2D`; its CPU kernel has no NCHW, which is computed here on a channels-last view.
    """
    return run_conv(input, filter, Layout.of(strides, padding, data_format, dilations, explicit_paddings), out)
