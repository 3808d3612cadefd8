"""Gradients of the convolution of images, by input and by filter."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.algorithm_choice import Trial, chosen, is_tuned, operand, placeholder, trials_of
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.conv import col2im, conv_trials, im2col, strided_input_gradient, subpixel_input_gradient
from npu_runtime.kernels.conv.conv import (
    FILTERED,
    SHORT_NS,
    WAYS,
    check_depths,
    convolve,
    fastest_way,
    is_finite,
    is_short,
    split_groups,
)
from npu_runtime.kernels.conv.zero_windows import blank_windows
from npu_runtime.kernels.half_storage import compute_dtype, store, widen
from npu_runtime.kernels.linalg.matmul import multiply
from npu_runtime.kernels.shapes import constant_ints
from npu_runtime.kernels.threads.parallel import alone, n_threads, parallel_ranges
from npu_runtime.kernels.threads.tiling import SMALL
from npu_runtime.kernels.variable_access import shape_text
from npu_runtime.kernels.windows.windows import Axis, Layout, check_rank, phases, refuse_ranks

MANY_POSITIONS = 8192
"""Pixels from which on the gradient of a 1x1 filter is a sum of products over parts of the batch; below, one product is cut in
columns."""
APART, PHASE_NS = 1.2, 20_000
"""Factor by which the phases, one by one, are slower than the estimate for all of them, as each writes every other pixel, and
what its calls of numpy take beside. Of 108 drawn shapes the way chosen so took 1.03 times as long as the faster one on average
and 1.4 times at most (Zen 4), with 1.6 alone 1.09 and 1.9."""


def fold_whole_axes(dx: np.ndarray, w: np.ndarray, rows: Axis, cols: Axis) -> tuple[np.ndarray, np.ndarray, Axis, Axis]:
    """Views in which an axis that the filter covers whole, as in convolutions over text, belongs to the channels.

    Its one output would be read through as many windows as the axis has elements, all but one tap of each being padding.
    """
    if dx.shape[3] != w.shape[2] or not (dx.flags.c_contiguous and w.flags.c_contiguous):
        return dx, w, rows, cols
    whole = Axis(1, 1, 1, 1, 0, 1)
    if _is_whole(cols):
        dx, w, cols = dx.reshape(*dx.shape[:2], 1, -1), w.reshape(len(w), 1, -1, w.shape[3]), whole
    if _is_whole(rows) and cols.extent == 1 and cols.is_pointwise:
        dx, w, rows = dx.reshape(len(dx), 1, 1, -1), w.reshape(1, 1, -1, w.shape[3]), whole
    return dx, w, rows, cols


def _is_whole(axis: Axis) -> bool:
    return axis.kernel == axis.extent > 1 and (axis.out, axis.before, axis.dilation) == (1, 0, 1)


def input_gradient(dy: np.ndarray, w: np.ndarray, rows: Axis, cols: Axis, dx: np.ndarray) -> None:
    """dx = what each input contributed.

    dy: (N, rows, columns, K).  w: (kernel rows, kernel columns, C, K).  dx: (N, H, W, groups * C).
    """
    if 0 in (dx.size, dy.size, w.size):
        dx.fill(0)
        return
    dx, w, rows, cols = fold_whole_axes(dx, w, rows, cols)
    is_one_group = dx.shape[3] == w.shape[2]
    way, ns = _way_by_input(dy, w, rows, cols) if is_one_group and dx.flags.c_contiguous else (PHASES, math.inf)
    if is_tuned() and is_one_group and dx.flags.c_contiguous and dy.dtype == np.float32:
        way = _chosen_by_input(way, dy, w, rows, cols, dx)
    run = alone(_BY_INPUT[way]) if ns <= SHORT_NS else _BY_INPUT[way]
    run(dy, w, rows, cols, dx)


def _way_by_input(dy: np.ndarray, w: np.ndarray, rows: Axis, cols: Axis) -> tuple[str, float]:
    """The default way of a gradient by an image whose channels are in one group, and the estimate of `_fastest_of_phases`."""
    way, ns = _fastest_of_phases(dy.shape, dy.dtype, w.shape, rows, cols)
    return SCATTERED if col2im.is_worth_it(dy, w) else way, ns


def _chosen_by_input(default: str, dy: np.ndarray, w: np.ndarray, rows: Axis, cols: Axis, dx: np.ndarray) -> str:
    """The way that a tuner takes."""

    def prepare() -> Callable[[str], np.ndarray]:
        gradient, filter, made = operand(*dy.shape), operand(*w.shape), np.empty(dx.shape, np.float32)

        def run(way: str) -> np.ndarray:
            _BY_INPUT[way](gradient, filter, rows, cols, made)
            return made

        return run

    def trials() -> dict[str, Trial]:
        takes = {
            PHASES: True, TOGETHER: strided_input_gradient.cost_ns(dy, w, rows, cols) < math.inf,
            SCATTERED: col2im.is_small(w, rows, cols), SUBPIXEL: subpixel_input_gradient.can_take(rows, cols),
        }  # fmt: skip
        return trials_of([way for way, is_taken in takes.items() if is_taken or way == default], prepare)

    return chosen("Conv2DBackpropInput", (dy.shape, w.shape, rows, cols), default, trials)


def _input_gradient_by_phases(dy: np.ndarray, w: np.ndarray, rows: Axis, cols: Axis, dx: np.ndarray) -> None:
    """Each phase of the strides, and each group, by itself."""
    groups = dx.shape[3] // w.shape[2]
    if groups == rows.stride == cols.stride == 1:
        (row,), (col,) = phases(rows), phases(cols)
        convolve(dy, w[row.taps, col.taps].swapaxes(2, 3), row.axis, col.axis, dx)
        return
    todo = list(itertools.product(zip(*(split_groups(a, groups) for a in (w, dy, dx)), strict=True), phases(rows), phases(cols)))
    todo.sort(key=lambda one: one[1].axis.kernel * one[2].axis.kernel, reverse=True)
    n_busy = sum(row.axis.kernel * col.axis.kernel > 0 for _, row, col in todo)  # the others fill their part with zeros

    def work(start: int, stop: int) -> None:
        for (w_part, dy_part, dx_part), row, col in todo[start:stop]:
            turned = w_part[row.taps, col.taps].swapaxes(2, 3)  # not copied: matrix products take it as it is
            target = dx_part[:, row.start :: rows.stride, col.start :: cols.stride]
            convolve(dy_part, turned, row.axis, col.axis, target)

    if n_busy >= 2 * n_threads():
        parallel_ranges(len(todo), work)
    else:
        work(0, n_busy)  # one after the other, each on all threads
        n_blank = len(todo) - n_busy
        parallel_ranges(n_blank, lambda start, stop: work(n_busy + start, n_busy + stop), n_blank if dx.size <= SMALL else 1)


@lru_cache(maxsize=4096)
def _fastest_of_phases(
    shape: tuple[int, ...], dtype: np.dtype, filter: tuple[int, ...], rows: Axis, cols: Axis
) -> tuple[str, float]:
    """The way that takes the least estimated time: the phases one by one, all at once, or in fp32 by subpixels.

    shape, dtype: of the gradient.  Returns: the way, and its nanoseconds on one thread.
    """
    dy, w = placeholder(shape, dtype), placeholder(filter, dtype)
    apart, n_phases = 0.0, 0
    for row, col in itertools.product(phases(rows), phases(cols)):
        if not (row.axis.kernel and col.axis.kernel):
            continue  # nothing reads these pixels
        turned = placeholder((row.axis.kernel, col.axis.kernel, filter[3], filter[2]), dtype)
        apart += fastest_way(shape, dtype, turned.shape, row.axis, col.axis).cost_ns(dy, turned, row.axis, col.axis)
        n_phases += 1
    together = strided_input_gradient.cost_ns(dy, w, rows, cols)
    way, ns, start = (TOGETHER, together, 0) if together < apart else (PHASES, apart, PHASE_NS * n_phases)
    subpixel = subpixel_input_gradient.cost_ns(dy, w, rows, cols) / APART if dtype == np.float32 else math.inf
    return (SUBPIXEL, subpixel) if subpixel < ns + start else (way, ns)


def _input_gradient_together(dy: np.ndarray, w: np.ndarray, rows: Axis, cols: Axis, dx: np.ndarray) -> None:
    """The gradient by `strided_input_gradient`; if not all of it is finite, sums of windows have to compute it."""
    doubtful: list[np.ndarray] = []

    def look(part: np.ndarray) -> None:
        if not is_finite(part):
            doubtful.append(part)

    strided_input_gradient.input_gradient(dy, w, rows, cols, dx, look)
    if doubtful:
        _input_gradient_by_phases(dy, w, rows, cols, dx)
        return
    for row, col in itertools.product(phases(rows), phases(cols)):
        blank = blank_windows(dy, row.axis, col.axis)
        if blank is not None:
            dx[:, row.start :: rows.stride, col.start :: cols.stride][blank] = 0


def _input_gradient_by_subpixels(dy: np.ndarray, w: np.ndarray, rows: Axis, cols: Axis, dx: np.ndarray) -> None:
    """The gradient by `subpixel_input_gradient`; where zeros would meet what is not finite, each phase by itself."""
    subpixel_input_gradient.input_gradient(dy, w, rows, cols, dx)
    if subpixel_input_gradient.has_zeros(rows, cols) and not is_finite(dx):
        _input_gradient_by_phases(dy, w, rows, cols, dx)


PHASES, TOGETHER, SCATTERED, SUBPIXEL = "phases", "phases_together", "col2im", "subpixel"
"""Ways of a gradient by an image, by the names that a bank knows them by."""
_BY_INPUT = {
    PHASES: _input_gradient_by_phases, TOGETHER: _input_gradient_together, SCATTERED: col2im.input_gradient,
    SUBPIXEL: _input_gradient_by_subpixels,
}  # fmt: skip


def filter_gradient(x: np.ndarray, dy: np.ndarray, rows: Axis, cols: Axis, dw: np.ndarray) -> None:
    """dw = sum over all outputs of what the taps saw times the gradient.

    x: (N, H, W, groups * C).  dy: (N, rows, columns, K).  dw: (kernel rows, kernel columns, C, K) contiguous.
    """
    if 0 in (x.size, dy.size, dw.size):
        dw.fill(0)
        return
    groups = x.shape[3] // dw.shape[2]
    is_plain = rows.is_pointwise and cols.is_pointwise and x.flags.c_contiguous and dy.flags.c_contiguous
    if groups == 1 and is_plain and len(x) * rows.out * cols.out < MANY_POSITIONS:
        multiply(x.reshape(-1, x.shape[3]).T, dy.reshape(-1, dy.shape[3]), dw[0, 0])
        return
    if groups == 1:
        way = fastest_way(x.shape, x.dtype, dw.shape, rows, cols)
        if is_tuned() and x.dtype == np.float32:
            way = _chosen_by_filter(way, x, dy, rows, cols, dw)
        by = alone(way.filter_gradient) if is_short(x.shape, x.dtype, dw.shape, rows, cols) else way.filter_gradient
        by(x, dy, rows, cols, dw)
        if way in FILTERED and not is_finite(dw):
            fastest_way(x.shape, x.dtype, dw.shape, rows, cols, True).filter_gradient(x, dy, rows, cols, dw)
        return
    for index, (x_part, dy_part) in enumerate(zip(split_groups(x, groups), split_groups(dy, groups), strict=True)):
        part = np.empty((*dw.shape[:3], dw.shape[3] // groups), dw.dtype)
        im2col.filter_gradient(x_part, dy_part, rows, cols, part)
        dw[..., index * part.shape[3] : (index + 1) * part.shape[3]] = part


def _chosen_by_filter(default: ModuleType, x: np.ndarray, dy: np.ndarray, rows: Axis, cols: Axis, dw: np.ndarray) -> ModuleType:
    """The way that a tuner takes."""

    def prepare() -> conv_trials.Run:
        image, gradient, made = operand(*x.shape), operand(*dy.shape), np.empty(dw.shape, np.float32)

        def run(way: ModuleType) -> np.ndarray:
            way.filter_gradient(image, gradient, rows, cols, made)
            return made

        return run

    return conv_trials.chosen_way("Conv2DBackpropFilter", WAYS, default, (x.shape, dw.shape), (rows, cols), (), prepare)


def backprop_flops(inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: dict[str, Any]) -> float:
    """2 image elements x filter elements / (depth x strides), as for stride-sized outputs.

    Source: TensorFlow python/profiler/internal/flops_registry.py, _conv_2d_backprop_input_flops and _filter_flops.
    """
    is_by_input = inputs[0].rank == 1
    image, weights = (outputs[0], inputs[1]) if is_by_input else (inputs[0], outputs[0])
    channels = 1 if attrs.get("data_format") == "NCHW" else 3
    strides = math.prod(attrs["strides"])
    depth = max(image.known_shape()[channels], 1)
    return 2.0 * math.prod(image.known_shape()) * math.prod(weights.known_shape()) / (depth * strides)


def image_sizes(sizes: Sequence[int], layout: Layout, batch: int | None, depth: int | None) -> tuple[int | None, ...]:
    """The image's shape from an `input_sizes` of four numbers, or of two: height and width."""
    if len(sizes) == 4:
        return tuple(sizes)
    if len(sizes) != 2:
        raise InvalidArgument(f"input_sizes must be 2 or 4 numbers, got {shape_text(sizes)}")
    return (batch, depth, *sizes) if layout.is_channels_first else (batch, *sizes, depth)


def _input_grad_shape(
    input_sizes: Spec, filter: Spec, out_backprop: Spec, *, strides: Sequence[int], padding: str,
    explicit_paddings: Sequence[int] = (), data_format: str = "NHWC", dilations: Sequence[int] = (1, 1, 1, 1),
) -> Shape:  # fmt: skip
    sizes = constant_ints(input_sizes)
    if sizes is None:
        return (None,) * 4
    layout = Layout.of(strides, padding, data_format, dilations, explicit_paddings)
    batch = None if out_backprop.shape is None else out_backprop.shape[0]
    return image_sizes(sizes, layout, batch, None if filter.shape is None else filter.shape[2])


def check_gradient(dy: Sequence[int], batch: int, rows: Axis, cols: Axis, filters: int) -> None:
    """Source: TensorFlow core/kernels/conv_grad_shape_utils.cc."""
    computed = (batch, rows.out, cols.out, filters)
    if tuple(dy) != computed:
        raise InvalidArgument(
            f"Size of out_backprop doesn't match computed: actual = {shape_text(dy)}, computed = {shape_text(computed)} "
            f"(batch, rows, columns, depth) input: {rows.extent}x{cols.extent} filter: {rows.kernel}x{cols.kernel} "
            f"stride: {rows.stride}x{cols.stride} dilation: {rows.dilation}x{cols.dilation}"
        )


@kernel(
    "Conv2DBackpropInput", unit="cube", shape=_input_grad_shape, dtypes=dt.FLOATS | {"int32"}, estimate=backprop_flops,
    ignores=("use_cudnn_on_gpu",), refuse=refuse_ranks(1, 2),
)  # fmt: skip
def conv2d_backprop_input(
    input_sizes: np.ndarray, filter: np.ndarray, out_backprop: np.ndarray, /, *, strides: Sequence[int], padding: str,
    explicit_paddings: Sequence[int] = (), data_format: str = "NHWC", dilations: Sequence[int] = (1, 1, 1, 1),
    out: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """Gradient of Conv2D by its input; also the transposed convolution.

    input_sizes: (4,) int32, shape of the image, or (2,): height and width.  filter: (kernel rows, kernel columns, C, K).
    out_backprop: gradient in the shape of Conv2D's result.  Returns: the image's shape.
    Raises: InvalidArgument when out_backprop is not what Conv2D would give.  Source: TensorFlow op `Conv2DBackpropInput`.
    """
    layout = Layout.of(strides, padding, data_format, dilations, explicit_paddings)
    check_rank("filter", filter.shape)
    check_rank("out_backprop", out_backprop.shape)
    dy = np.ascontiguousarray(widen(layout.channels_last(out_backprop)))
    sizes = image_sizes([int(n) for n in input_sizes], layout, len(dy), filter.shape[2])
    dx = np.empty([int(n or 0) for n in sizes], compute_dtype(dy.dtype))
    image = layout.channels_last(dx)
    if layout.is_channels_first:
        image = np.empty(image.shape, dx.dtype)
    elif out is not None and out.dtype == dx.dtype and out.flags.c_contiguous:
        image = dx = out
    check_depths(image.shape[3], filter.shape[2], filter.shape[3])
    rows, cols = layout.axes(image.shape[1:3], filter.shape[:2])
    check_gradient(dy.shape, len(image), rows, cols, filter.shape[3])
    input_gradient(dy, widen(filter), rows, cols, image)
    return store(np.ascontiguousarray(layout.original(image)), out_backprop.dtype, out)


def _filter_grad_shape(input: Spec, filter_sizes: Spec, out_backprop: Spec, **attrs: Any) -> Shape:
    return constant_ints(filter_sizes) or (None,) * 4


@kernel(
    "Conv2DBackpropFilter", unit="cube", shape=_filter_grad_shape, dtypes=dt.FLOATS, estimate=backprop_flops,
    ignores=("use_cudnn_on_gpu",), refuse=refuse_ranks(0, 2),
)  # fmt: skip
def conv2d_backprop_filter(
    input: np.ndarray, filter_sizes: np.ndarray, out_backprop: np.ndarray, /, *, strides: Sequence[int], padding: str,
    explicit_paddings: Sequence[int] = (), data_format: str = "NHWC", dilations: Sequence[int] = (1, 1, 1, 1),
    out: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """Gradient of Conv2D by its filter.

    input: the image.  filter_sizes: (4,) int32: kernel rows, kernel columns, C, K.  out_backprop: gradient in the shape of
    Conv2D's result.  Returns: shape filter_sizes; partial sums of up to eight parts of the batch are added at the end.
    Raises: InvalidArgument when out_backprop is not what Conv2D would give.  Source: TensorFlow op `Conv2DBackpropFilter`.
    """
    layout = Layout.of(strides, padding, data_format, dilations, explicit_paddings)
    check_rank("input", input.shape)
    check_rank("out_backprop", out_backprop.shape)
    image, dy = widen(layout.channels_last(input)), np.ascontiguousarray(widen(layout.channels_last(out_backprop)))
    sizes = tuple(int(n) for n in filter_sizes)
    check_rank("filter", sizes)
    check_depths(image.shape[3], sizes[2], sizes[3])
    rows, cols = layout.axes(image.shape[1:3], sizes[:2])
    check_gradient(dy.shape, len(image), rows, cols, sizes[3])
    is_fit = out is not None and out.dtype == image.dtype and out.flags.c_contiguous
    dw = out if is_fit and out is not None else np.empty(sizes, image.dtype)
    filter_gradient(image, dy, rows, cols, dw)
    return store(dw, input.dtype, out)
