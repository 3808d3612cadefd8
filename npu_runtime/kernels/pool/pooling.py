"""Pools of images on the vector unit: rows first, where whole lines are contiguous, then columns."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import ml_dtypes
import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.cost.work import n_elements
from npu_runtime.errors import InvalidArgument, Unimplemented
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.half_storage import compute_dtype
from npu_runtime.kernels.native import pool_loops, window_loops
from npu_runtime.kernels.pool.pool_routing import are_pairs, images_at_once
from npu_runtime.kernels.shapes import constant_ints
from npu_runtime.kernels.threads.blocked_reduction import fold
from npu_runtime.kernels.threads.parallel import parallel_ranges, scratch
from npu_runtime.kernels.variable_access import shape_text
from npu_runtime.kernels.windows.windows import Axis, Layout, check_rank

MAXIMA = dt.FLOATS | {"int32", "int64", "uint8", "int16", "int8"}
"""Types that have a largest one: of max pools and their gradients."""

Combine = Callable[..., Any]
Finish = Callable[[np.ndarray, int, int], Any]
BAND_ELEMENTS = 131072
"""Inputs that one step of a pool works on: they stay in the L2 cache from the rows' pass to the columns'."""
BLOCK_ELEMENTS = 1 << 19
"""Inputs of the same for whole images that are small: so short are the calls of numpy then that fewer of them count for more.
"""


def lowest(dtype: np.dtype) -> Any:
    """The number that TensorFlow's maximum starts from: -FLT_MAX, not minus infinity, for floats."""
    return np.iinfo(dtype).min if dtype.kind in "iu" else np.float32(ml_dtypes.finfo(dtype).min)


def bands(n_images: int, rows: Axis, line: int, elements: int = BAND_ELEMENTS) -> list[tuple[int, int, int]]:
    """(image, first row, end row) of outputs, so that a band reads about `elements`.  line: elements of an input row."""
    height = max(1, elements // max(1, line * rows.stride))
    steps = -(-rows.out // height)
    edges = [rows.out * index // steps for index in range(steps + 1)] if steps else [0]
    return [(image, a, b) for image in range(n_images) for a, b in itertools.pairwise(edges)]


def blocks(n_images: int, rows: Axis, line: int) -> list[tuple[slice, int, int]]:
    """(images, first row, end row) of outputs: several small images at a time, or the bands of each large one."""
    elements = n_images * rows.extent * line
    n_groups = 2 * -(-elements // (2 * BLOCK_ELEMENTS)) if elements > BAND_ELEMENTS else 1  # as many for each of two threads
    at_once = n_images // max(1, n_groups)
    if at_once < 2:
        return [(slice(image, image + 1), first, last) for image, first, last in bands(n_images, rows, line)]
    return [(slice(start, min(start + at_once, n_images)), 0, rows.out) for start in range(0, n_images, at_once)]


def gather_axis(
    x: np.ndarray, axis: Axis, first: int, last: int, place: int, combine: Combine, neutral: Any, out: np.ndarray
) -> None:
    """out = the taps of outputs [first, last) along array axis `place`, combined; `neutral` where there is none."""
    before = (slice(None),) * place

    def along(array: np.ndarray, part: slice) -> np.ndarray:
        index = (*before, part)
        return array[index]

    taps = [axis.tap(index, first, last) for index in range(axis.kernel)]
    taps.sort(key=lambda tap: tap[0].start - tap[0].stop)  # those of every output first: they need no neutral value
    parts = [(along(out, outputs), along(x, inputs)) for outputs, inputs in taps]
    n_whole = min(2, sum(outputs.stop - outputs.start == last - first for outputs, _ in taps))
    if n_whole == 2:
        combine(parts[0][1], parts[1][1], out=out, dtype=out.dtype)  # 16-bit inputs would be added in 16 bits
    elif n_whole == 1:
        np.copyto(out, parts[0][1])
    else:
        out.fill(neutral)
    for target, values in parts[n_whole:]:
        combine(target, values, out=target)


def pool(x: np.ndarray, rows: Axis, cols: Axis, combine: Combine, neutral: Any, out: np.ndarray,
         finish: Finish | None = None) -> None:  # fmt: skip
    """out = windows of x combined.  x: (N, H, W, C).  out: (N, rows, columns, C).  finish(block, first row, end row)."""
    todo = blocks(len(x), rows, x.shape[2] * x.shape[3])
    wide = compute_dtype(x.dtype)

    def work(start: int, stop: int) -> None:
        for images, first, last in todo[start:stop]:
            target = out[images, first:last]
            lines = scratch("pool lines", (len(target), last - first, *x.shape[2:]), wide)
            gather_axis(x[images], rows, first, last, 1, combine, neutral, lines)
            is_direct = out.dtype == wide and target.flags.c_contiguous
            block = target if is_direct else scratch("pool block", target.shape, wide)
            gather_axis(lines, cols, 0, cols.out, 2, combine, neutral, block)
            if finish is not None:
                finish(block, first, last)
            if not is_direct:
                np.copyto(target, block, casting="unsafe")

    parallel_ranges(len(todo), work)


def pool_layout(ksize: Sequence[int], strides: Sequence[int], padding: str, data_format: str,
                explicit_paddings: Sequence[int] = ()) -> tuple[Layout, tuple[int, int]]:  # fmt: skip
    """Layout and kernel of a pool node.

    Raises: Unimplemented for a pool over the batch, or over channels, which nodes with constant windows leave to the host;
    InvalidArgument for explicit padding as wide as the window.
    Source: TensorFlow core/kernels/pooling_ops_common.cc.
    """
    sizes = f"ksize {shape_text(ksize)}, strides {shape_text(strides)}"
    if ksize[0] != 1 or strides[0] != 1:
        raise Unimplemented(f"Pooling is not yet supported on the batch dimension: {sizes}")
    channels = 1 if data_format == "NCHW" else 3
    if ksize[channels] != 1 or strides[channels] != 1:
        raise Unimplemented(f"Pooling is not yet supported on the depth dimension: {sizes}")
    layout = Layout.of(strides, padding, data_format, explicit_paddings=explicit_paddings)
    extents = (ksize[2], ksize[3]) if layout.is_channels_first else (ksize[1], ksize[2])
    if padding == "EXPLICIT":
        _check_padding(layout, extents)
    return layout, extents


def _check_padding(layout: Layout, extents: tuple[int, int]) -> None:
    """Raises: InvalidArgument for explicit padding that whole windows would lie in."""
    windows = (extents[0], extents[0], extents[1], extents[1])
    sides = zip(("Top", "Bottom", "Left", "Right"), itertools.chain(*layout.explicit), windows, strict=True)
    for side, width, extent in sides:
        if width >= extent:
            raise InvalidArgument(f"{side} padding {width} needs to be smaller than the window size {extent}")


def refuse_depth_pool(specs: Sequence[Spec], attrs: dict[str, Any]) -> str | None:
    """A pool over channels, or of tensors that are no images."""
    channels = 1 if attrs.get("data_format") == "NCHW" else 3
    if "ksize" in attrs and attrs["ksize"][channels] != 1:
        return "a pool over channels"
    ranks = [spec.rank for spec in specs if spec.rank not in (None, 1)]
    return f"a pool of rank {ranks[0]}, not 4" if ranks and ranks[0] != 4 else None


def pool_shape(value: Spec, *sizes: Spec, ksize: Sequence[int] = (), strides: Sequence[int] = (), padding: str,
               data_format: str = "NHWC", explicit_paddings: Sequence[int] = ()) -> Shape:  # fmt: skip
    if sizes:
        known = [constant_ints(size) for size in sizes]
        ksize, strides = known[0] or (), known[1] or ()
        if not ksize or not strides:
            return (None,) * 4
    if value.shape is not None:
        check_rank("tensor_in", value.shape)
    layout, kernel_extents = pool_layout(ksize, strides, padding, data_format, explicit_paddings)
    return layout.out_shape(value.shape, kernel_extents, layout.channels(value.shape))


def pool_flops(inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: dict[str, Any]) -> float:
    """One a tap.  Source: TensorFlow python/profiler/internal/flops_registry.py, _pool_flops."""
    ksize = attrs["ksize"] if "ksize" in attrs else constant_ints(inputs[1]) or (1,)
    return float(math.prod(ksize) * n_elements(outputs[0]))


def _run(x: np.ndarray, layout: Layout, extents: tuple[int, int], out: np.ndarray | None, is_max: bool) -> np.ndarray:
    check_rank("tensor_in", x.shape)
    image = layout.channels_last(x)
    rows, cols = layout.axes(image.shape[1:3], extents)
    shape = layout.original_shape(len(x), rows.out, cols.out, image.shape[3])
    result = np.empty(shape, x.dtype) if out is None else out
    target = layout.channels_last(result)
    if x.dtype == np.float32 and image.flags.c_contiguous and _is_whole(rows) and _is_whole(cols):
        _reduce_images(image.reshape(len(image), rows.extent * cols.extent, image.shape[3]), target, is_max)
    elif is_max and (_largest_of_pairs(image, rows, cols, target) or _largest_of_windows(image, rows, cols, target)):
        pass
    elif is_max:
        is_integer = x.dtype.kind in "iu"
        finish = None if is_integer else _at_least(lowest(x.dtype))
        pool(image, rows, cols, np.maximum if is_integer else np.fmax, lowest(compute_dtype(x.dtype)), target, finish)
    else:
        share = reciprocal_counts(rows, cols)
        pool(image, rows, cols, np.add, 0, target, lambda block, first, last: np.multiply(block, share[first:last], out=block))
    return result


def _largest_of_pairs(x: np.ndarray, rows: Axis, cols: Axis, out: np.ndarray) -> bool:
    """The largest of windows of two by two side by side, by a compiled loop with the same bits; False where it does not serve."""
    if not (are_pairs(rows, cols) and pool_loops.largest.takes(x, out)):
        return False
    parallel_ranges(len(x), lambda start, stop: pool_loops.largest(x, out, start, stop, np.float32(1)), images_at_once(x))
    return True


def _largest_of_windows(x: np.ndarray, rows: Axis, cols: Axis, out: np.ndarray) -> bool:
    """The largest of each window of images that are not cut, by a compiled loop with the same bits; False elsewhere."""
    if not window_loops.largest.takes(x, out):
        return False
    if any(last - first < rows.out for _, first, last in blocks(len(x), rows, x.shape[2] * x.shape[3])):
        return False
    axes = [(axis.kernel, axis.stride, axis.before) for axis in (rows, cols)]
    given = [*axes, _order_of_taps(rows), _order_of_taps(cols)]

    def work(start: int, stop: int) -> None:
        window_loops.largest(x, out, *given, start, stop, np.float32(1))

    parallel_ranges(len(x), work, images_at_once(x))
    return True


@lru_cache(maxsize=256)
def _order_of_taps(axis: Axis) -> np.ndarray:
    """The order in which `gather_axis` takes taps: it decides between 0 and -0."""
    sizes = [outputs.start - outputs.stop for outputs, _ in (axis.tap(index, 0, axis.out) for index in range(axis.kernel))]
    return np.argsort(sizes, kind="stable").astype(np.int64)


def _is_whole(axis: Axis) -> bool:
    return (axis.out, axis.kernel, axis.before) == (1, axis.extent, 0)


def _reduce_images(x: np.ndarray, out: np.ndarray, is_max: bool) -> None:
    """One window of a whole image, as a reduction.  x: (N, pixels, C).  out: (N, 1, 1, C)."""
    results = np.empty((len(x), x.shape[2]), x.dtype)
    fold(np.fmax if is_max else np.add, x, results)
    if is_max:
        _at_least(lowest(x.dtype))(results, 0, 1)
    else:
        results *= np.float32(1.0 / x.shape[1])
    np.copyto(out, results[:, None, None])


def _at_least(floor: np.float32) -> Finish:
    """A window without numbers gives the lowest value of the node's type; looking for one is faster than the cure."""

    def finish(block: np.ndarray, first: int, last: int) -> None:
        if block.size and not block.min() >= floor:
            np.fmax(block, floor, out=block)

    return finish


def reciprocal_counts(rows: Axis, cols: Axis) -> np.ndarray:
    """1 / number of taps inside the image.  Returns: (rows, columns, 1) fp32."""
    counts = np.maximum(rows.valid_counts()[:, None] * cols.valid_counts(), 1)
    return (1.0 / counts).astype(np.float32)[:, :, None]


@kernel(
    "MaxPool", unit="vector", shape=pool_shape, dtypes=MAXIMA,
    estimate=pool_flops, refuse=refuse_depth_pool,
)  # fmt: skip
def max_pool(
    input: np.ndarray, /, *, ksize: Sequence[int], strides: Sequence[int], padding: str, explicit_paddings: Sequence[int] = (),
    data_format: str = "NHWC", out: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """Largest value of each window; padding and NaN never win.

    input: (N, H, W, C), or (N, C, H, W) with data_format NCHW.  Returns: the windows' grid in the same layout.
    Source: TensorFlow op `MaxPool`: the maximum starts from the lowest finite value, so a window of NaN gives that.
    """
    return _run(input, *pool_layout(ksize, strides, padding, data_format, explicit_paddings), out, is_max=True)


@kernel(
    "MaxPoolV2", unit="vector", shape=pool_shape, dtypes=MAXIMA,
    estimate=pool_flops, refuse=refuse_depth_pool,
)  # fmt: skip
def max_pool_v2(
    input: np.ndarray, ksize: np.ndarray, strides: np.ndarray, /, *, padding: str, data_format: str = "NHWC",
    out: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """MaxPool with window and stride as tensors.  ksize, strides: (4,) int32.  Source: TensorFlow op `MaxPoolV2`."""
    return _run(input, *pool_layout(ksize.tolist(), strides.tolist(), padding, data_format), out, is_max=True)


@kernel("AvgPool", unit="vector", shape=pool_shape, dtypes=dt.FLOATS, estimate=pool_flops, refuse=refuse_depth_pool)
def avg_pool(
    value: np.ndarray, /, *, ksize: Sequence[int], strides: Sequence[int], padding: str, data_format: str = "NHWC",
    out: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """Mean of each window; padding does not count.

    value: (N, H, W, C), or (N, C, H, W) with data_format NCHW.  Returns: the windows' grid in the same layout.
    Source: TensorFlow op `AvgPool`.
    """
    return _run(value, *pool_layout(ksize, strides, padding, data_format), out, is_max=False)
