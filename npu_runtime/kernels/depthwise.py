"""Depthwise convolution: every channel has filters of its own, so taps are multiplied and added, no matrix product."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.columns import pixels_a_line
from npu_runtime.kernels.conv_gradients import check_gradient, phases
from npu_runtime.kernels.im2col import Block, blocks, framed, window_view
from npu_runtime.kernels.parallel import parallel_ranges, scratch
from npu_runtime.kernels.pooling_gradients import gradient_into
from npu_runtime.kernels.precision import compute_dtype, widen
from npu_runtime.kernels.rows import as_items
from npu_runtime.kernels.shapes import constant_ints
from npu_runtime.kernels.windows import Axis, Layout, check_rank

PARTS = 8
BLOCK_BYTES = 4 << 20
"""Of the inputs that one call works on: Python between smaller ones takes longer than the L2 cache saves."""
SUMMED_BYTES = 1 << 20
"""The same where a block's products are summed in fp32, which bounds the rounding error."""
LONG_CHANNELS = 128
"""With fewer channels several pixels are worked on as one, for a long inner loop of numpy."""
CHUNK = 1024
"""Elements of such pixels whose products are summed: the sums of all taps stay in the nearest cache."""


def _blocks(n_images: int, rows: Axis, cols: Axis, stride: int, depth: int, n_bytes: int) -> tuple[Block, ...]:
    """stride: inputs along each axis that belong to one output.  n_bytes: of a block's inputs."""
    return blocks(n_images, rows, cols, 4 * stride * stride * depth, n_bytes)


def _line_view(lines: np.ndarray, rows: Axis, cols: Axis, n_rows: int) -> np.ndarray:
    """Windows whose columns move one by one: a tap of a whole line is one contiguous run.

    lines: (n, h, w, C), lines contiguous, or (kernel columns, n, h, columns, C) as `_by_column_tap` gives them.
    Returns: (n, n_rows, kernel rows, kernel columns, columns * C).
    """
    image, line, pixel, item = lines.strides[-4:]
    column_tap = pixel * cols.dilation if lines.ndim == 4 else lines.strides[0]
    shape = (lines.shape[-4], n_rows, rows.kernel, cols.kernel, cols.out * lines.shape[-1])
    strides = (image, line * rows.stride, line * rows.dilation, column_tap, item)
    return np.lib.stride_tricks.as_strided(lines, shape, strides, writeable=False)


def _by_column_tap(x: np.ndarray, rows: Axis, cols: Axis, block: Block) -> np.ndarray:
    """What each column tap reads of the rows of a block, zeros where it leaves the image.

    Returns: (kernel columns, n, h, columns, C) in scratch of this thread, good until the next call.
    """
    top, bottom = rows.reach(block.top, block.bottom)
    y0 = max(top, 0)
    y1 = max(min(bottom, rows.extent), y0)
    images = slice(block.first, block.last)
    planes = scratch("column taps", (cols.kernel, block.last - block.first, bottom - top, cols.out, x.shape[3]), x.dtype)
    planes[:, :, : y0 - top] = 0
    planes[:, :, y1 - top :] = 0
    for index, plane in enumerate(planes[:, :, y0 - top : y1 - top]):
        outputs, inputs = cols.tap(index, 0, cols.out)
        plane[:, :, : outputs.start] = 0
        plane[:, :, outputs.stop :] = 0
        as_items(plane)[:, :, outputs] = as_items(x)[images, y0:y1, inputs]
    return planes


def _inputs(x: np.ndarray, rows: Axis, cols: Axis, block: Block, times: int) -> np.ndarray:
    """What a block reads, each channel `times` times: by column tap where that makes long lines, else framed."""
    is_split = cols.stride > 1 and x.shape[3] * times < LONG_CHANNELS
    read = (_by_column_tap if is_split else framed)(x, rows, cols, block)
    return read if times == 1 else np.repeat(read, times, axis=-1)


def depthwise(x: np.ndarray, w: np.ndarray, rows: Axis, cols: Axis, out: np.ndarray) -> None:
    """out = x * w by channel.

    x: (N, H, W, C) with C * M = K, each channel used M times.  w: (kernel rows, kernel columns, K).
    out: (N, rows, columns, K), contiguous.
    """
    depth = w.shape[2]
    times = depth // max(x.shape[3], 1)
    todo = _blocks(len(x), rows, cols, cols.stride, depth, BLOCK_BYTES)
    taps = np.tile(w, (1, 1, cols.out)) if cols.stride == 1 or depth < LONG_CHANNELS else w

    def work(start: int, stop: int) -> None:
        for block in todo[start:stop]:
            _sum_taps(_inputs(x, rows, cols, block, times), taps, rows, cols, block.of(out))

    if out.size and w.size:
        parallel_ranges(len(todo), work)
    else:
        out.fill(0)


def _sum_taps(read: np.ndarray, w: np.ndarray, rows: Axis, cols: Axis, out: np.ndarray) -> None:
    """out = windows of what a block reads times w, multiplied and added in one pass a tap.

    out: (n, rows, columns, K), contiguous.
    """
    if cols.stride == 1 or read.ndim == 5:
        view = _line_view(read, rows, cols, out.shape[1])
        np.einsum("nrijk,ijk->nrk", view, w, out=out.reshape(view.shape[0], view.shape[1], view.shape[4]))
    else:
        np.einsum("nrcijk,ijk->nrck", window_view(read, rows, cols, out.shape[1]), w, out=out)


def depthwise_input_gradient(dy: np.ndarray, w: np.ndarray, rows: Axis, cols: Axis, dx: np.ndarray) -> None:
    """dx = dy spread back through w.

    dy: (N, rows, columns, K).  w: (kernel rows, kernel columns, K).  dx: (N, H, W, C): sums of K / C neighbours; contiguous.
    """
    parts = [(row, col, np.tile(w[row.taps, col.taps], (1, 1, col.axis.out))) for row in phases(rows) for col in phases(cols)]
    if not dx.size or not w.size or not dy.size:
        dx.fill(0)
        return
    high, wide = (_reading_all(axis) for axis in (rows, cols))
    todo = _blocks(len(dy), high, wide, rows.stride, w.shape[2], BLOCK_BYTES)

    def work(start: int, stop: int) -> None:
        for block in todo[start:stop]:
            frame = framed(dy, high, wide, block)
            images = dx[block.first : block.last]
            for row, col, taps in parts:
                read = frame[:, high.before - row.axis.before :, wide.before - col.axis.before :]
                target = images[:, row.start :: rows.stride, col.start :: cols.stride][:, block.top : block.bottom]
                _sum_taps_into(target, read, taps, row.axis, col.axis)

    parallel_ranges(len(todo), work)


def _reading_all(axis: Axis) -> Axis:
    """An axis without stride whose windows hold those of every phase of an input gradient."""
    axes = [phase.axis for phase in phases(axis)]
    before = max(a.before for a in axes)
    return Axis(axis.out, max(before - a.before + a.span for a in axes), 1, 1, before, axes[0].out)


def _sum_taps_into(target: np.ndarray, read: np.ndarray, w: np.ndarray, rows: Axis, cols: Axis) -> None:
    """target = windows times w, sums of neighbouring channels where it has fewer.

    target: (n, rows, columns, C), any strides.
    """
    if not w.size:
        target.fill(0)
        return
    groups = w.shape[2] // (cols.out * target.shape[3])
    is_direct = groups == 1 and target.flags.c_contiguous
    result = target if is_direct else scratch("depthwise", (*target.shape[:3], target.shape[3] * groups), target.dtype)
    _sum_taps(read, w, rows, cols, result)
    if groups > 1:
        np.sum(result.reshape(*target.shape, groups), axis=-1, out=target)
    elif not is_direct:
        as_items(target)[...] = as_items(result)


def depthwise_filter_gradient(x: np.ndarray, dy: np.ndarray, rows: Axis, cols: Axis) -> np.ndarray:
    """Sum over positions of input times gradient by channel.  x: (N, H, W, C).  dy: (N, rows, columns, K) contiguous.

    Returns: (kernel rows, kernel columns, K) float64; blocks are summed in fp32, parts of the batch in float64.
    """
    todo = _blocks(len(x), rows, cols, cols.stride, dy.shape[3], SUMMED_BYTES)
    times = dy.shape[3] // max(x.shape[3], 1)
    n_parts = min(PARTS, len(todo))
    sums = np.zeros((max(n_parts, 1), rows.kernel, cols.kernel, dy.shape[3]))

    def work(start: int, stop: int) -> None:
        for part in range(start, stop):
            for block in todo[part * len(todo) // n_parts : (part + 1) * len(todo) // n_parts]:
                sums[part] += _product_of_taps(_inputs(x, rows, cols, block, times), block.of(dy), rows, cols)

    if dy.size and x.size:
        parallel_ranges(n_parts, work)
    return sums.sum(axis=0)


def _product_of_taps(read: np.ndarray, dy: np.ndarray, rows: Axis, cols: Axis) -> np.ndarray:
    """Sum over the outputs of one block of window times gradient.  Returns: (kernel rows, kernel columns, K)."""
    n_images, n_rows, columns, depth = dy.shape
    if depth >= LONG_CHANNELS:
        return np.einsum("nrcijk,nrck->ijk", window_view(read, rows, cols, n_rows), dy)
    times = pixels_a_line(columns, depth, CHUNK)
    chunks = (columns // times, times * depth)
    lines = _line_view(read, rows, cols, n_rows)
    sums = np.empty((cols.kernel, rows.kernel, times, depth), dy.dtype)
    for index, total in enumerate(sums):  # all column taps in one call take three times as long
        view = lines[:, :, :, index].reshape(n_images, n_rows, rows.kernel, *chunks)
        np.einsum("nrick,nrck->ik", view, dy.reshape(n_images, n_rows, *chunks), out=total.reshape(rows.kernel, -1))
    return sums.sum(axis=2).swapaxes(0, 1)


def _refuse(specs: Sequence[Spec], attrs: dict[str, Any]) -> str | None:
    """Dilations, which TensorFlow does by SpaceToBatchND around the op; tensors that are no images."""
    ranks = [spec.rank for spec in specs if spec.rank not in (None, 1)]
    if ranks and set(ranks) != {4}:
        return f"a depthwise convolution of rank {ranks[0]}, not 4"
    return "dilations of the native op" if set(attrs.get("dilations", (1,))) != {1} else None


def _layout(strides: Sequence[int], padding: str, explicit: Sequence[int], data_format: str) -> Layout:
    layout = Layout.of(strides, padding, data_format, explicit_paddings=explicit)
    if layout.strides[0] != layout.strides[1]:
        raise InvalidArgument("Current implementation only supports equal length strides in the row and column dimensions.")
    return layout


def _check_depth(depth: int | None, filter_depth: int | None) -> None:
    if None not in (depth, filter_depth) and depth != filter_depth:
        raise InvalidArgument(f"input and filter must have the same depth: {depth} vs {filter_depth}")


def _shape(
    input: Spec, filter: Spec, *, strides: Sequence[int], padding: str, explicit_paddings: Sequence[int] = (),
    data_format: str = "NHWC",
) -> Shape:  # fmt: skip
    layout = _layout(strides, padding, explicit_paddings, data_format)
    extents = filter.shape or (None,) * 4
    check_rank("filter", extents)
    if input.shape is not None:
        check_rank("input", input.shape)
    _check_depth(layout.channels(input.shape), extents[2])
    known = extents[2] is not None and extents[3] is not None
    return layout.out_shape(input.shape, extents[:2], (extents[2] or 0) * (extents[3] or 0) if known else None)


def _flops(inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: dict[str, Any]) -> float:
    """2 a tap and output.  Source: TensorFlow python/ops/nn_ops.py, _calc_depthwise_conv_flops."""
    rows, cols = inputs[1].known_shape()[:2]
    return 2.0 * math.prod(outputs[0].known_shape()) * rows * cols


def _gradient_flops(inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: dict[str, Any]) -> float:
    """2 a tap and element of the gradient; TensorFlow registers none."""
    weights = outputs[0] if inputs[1].rank == 1 else inputs[1]
    return 2.0 * math.prod(inputs[2].known_shape()) * math.prod(weights.known_shape()[:2])


@kernel(
    "DepthwiseConv2dNative", unit="vector", shape=_shape, dtypes=dt.FLOATS, estimate=_flops,
    ignores=("dilations",), refuse=_refuse,
)  # fmt: skip
def depthwise_conv2d_native(
    input: np.ndarray, filter: np.ndarray, /, *, strides: Sequence[int], padding: str, explicit_paddings: Sequence[int] = (),
    data_format: str = "NHWC", out: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """Convolution with M filters for each channel.

    input: (N, H, W, C), or (N, C, H, W) with data_format NCHW.  filter: (kernel rows, kernel columns, C, M).
    Returns: (N, rows, columns, C * M) in the input's layout.  Raises: InvalidArgument for another depth or unequal strides.
    Source: TensorFlow op `DepthwiseConv2dNative`; its CPU kernel ignores dilations, so a node that has them is refused.
    """
    layout = _layout(strides, padding, explicit_paddings, data_format)
    check_rank("input", input.shape)
    check_rank("filter", filter.shape)
    image = np.ascontiguousarray(widen(layout.channels_last(input)))
    _check_depth(image.shape[3], filter.shape[2])
    rows, cols = layout.axes(image.shape[1:3], filter.shape[:2])
    w = _by_channel(filter)
    shape = layout.original_shape(len(image), rows.out, cols.out, w.shape[2])
    return gradient_into(shape, input.dtype, layout, out, lambda y: depthwise(image, w, rows, cols, y))


def _by_channel(filter: np.ndarray) -> np.ndarray:
    """(kernel rows, kernel columns, C * M) in the type sums are formed in."""
    return widen(filter).reshape(*filter.shape[:2], filter.shape[2] * filter.shape[3])


def _by_input_shape(input_sizes: Spec, *others: Spec, **attrs: Any) -> Shape:
    return constant_ints(input_sizes) or (None,) * 4


@kernel(
    "DepthwiseConv2dNativeBackpropInput", unit="vector", shape=_by_input_shape, dtypes=dt.FLOATS, estimate=_gradient_flops,
    ignores=("dilations",), refuse=_refuse,
)  # fmt: skip
def depthwise_backprop_input(
    input_sizes: np.ndarray, filter: np.ndarray, out_backprop: np.ndarray, /, *, strides: Sequence[int], padding: str,
    explicit_paddings: Sequence[int] = (), data_format: str = "NHWC", out: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """Gradient of DepthwiseConv2dNative by its input.

    input_sizes: (4,) int32.  filter: (kernel rows, kernel columns, C, M).  out_backprop: in the shape of the forward result.
    Returns: shape input_sizes.  Raises: InvalidArgument when the shapes do not belong together.
    Source: TensorFlow op `DepthwiseConv2dNativeBackpropInput`.
    """
    layout = _layout(strides, padding, explicit_paddings, data_format)
    shape = tuple(int(n) for n in input_sizes)
    spatial = shape[2:] if layout.is_channels_first else shape[1:3]
    _check_depth(layout.channels(shape), filter.shape[2])
    rows, cols = layout.axes(spatial, filter.shape[:2])
    w, dy = _by_channel(filter), np.ascontiguousarray(widen(layout.channels_last(out_backprop)))
    check_gradient(dy.shape, shape[0], rows, cols, w.shape[2])
    return gradient_into(
        shape, out_backprop.dtype, layout, out, lambda dx: depthwise_input_gradient(dy, w, rows, cols, dx)
    )  # fmt: skip


def _by_filter_shape(input: Spec, filter_sizes: Spec, out_backprop: Spec, **attrs: Any) -> Shape:
    return constant_ints(filter_sizes) or (None,) * 4


@kernel(
    "DepthwiseConv2dNativeBackpropFilter", unit="vector", shape=_by_filter_shape, dtypes=dt.FLOATS, estimate=_gradient_flops,
    ignores=("dilations",), refuse=_refuse,
)  # fmt: skip
def depthwise_backprop_filter(
    input: np.ndarray, filter_sizes: np.ndarray, out_backprop: np.ndarray, /, *, strides: Sequence[int], padding: str,
    explicit_paddings: Sequence[int] = (), data_format: str = "NHWC", out: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """Gradient of DepthwiseConv2dNative by its filter.

    input: the image.  filter_sizes: (4,) int32.  out_backprop: in the shape of the forward result.
    Returns: shape filter_sizes.  Raises: InvalidArgument when the shapes do not belong together.
    Source: TensorFlow op `DepthwiseConv2dNativeBackpropFilter`.
    """
    layout = _layout(strides, padding, explicit_paddings, data_format)
    image, dy = (np.ascontiguousarray(widen(layout.channels_last(v))) for v in (input, out_backprop))
    sizes = tuple(int(n) for n in filter_sizes)
    _check_depth(image.shape[3], sizes[2])
    rows, cols = layout.axes(image.shape[1:3], sizes[:2])
    check_gradient(dy.shape, len(image), rows, cols, sizes[2] * sizes[3])
    dw = depthwise_filter_gradient(image, dy, rows, cols).astype(compute_dtype(input.dtype)).reshape(sizes)
    if out is None:
        return dw.astype(input.dtype)
    np.copyto(out, dw, casting="unsafe")
    return out
