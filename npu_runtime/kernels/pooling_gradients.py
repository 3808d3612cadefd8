"""Gradients of pools: to the first largest input of a window, or shared by all of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.cost.work import n_elements
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.access import shape_text
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.parallel import parallel_ranges, scratch
from npu_runtime.kernels.pooling import blocks, pool_layout, reciprocal_counts, refuse_depth_pool
from npu_runtime.kernels.precision import compute_dtype, widen
from npu_runtime.kernels.shapes import constant_ints, same_as
from npu_runtime.kernels.windows import Axis, Layout

Slices = tuple[slice, slice, slice]
ALL = slice(None)
NO_TAP = -1
POOLED_RELU_GRADIENT = "_MaxPoolReluGrad"


def tap_slices(rows: Axis, cols: Axis, first: int, last: int) -> list[tuple[int, Slices, Slices]]:
    """(tap number, outputs counted from row `first`, inputs) of every tap that reaches into the images, in TensorFlow's order."""
    found = []
    for row in range(rows.kernel):
        for col in range(cols.kernel):
            (out_rows, in_rows), (out_cols, in_cols) = rows.tap(row, first, last), cols.tap(col, 0, cols.out)
            if out_rows.stop > out_rows.start and out_cols.stop > out_cols.start:
                found.append((row * cols.kernel + col, (ALL, out_rows, out_cols), (ALL, in_rows, in_cols)))
    return found


def choose_taps(x: np.ndarray, rows: Axis, cols: Axis, first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
    """(value, tap number) that each window settles on: its first input, replaced by any strictly greater one.

    x: (N, H, W, C).  Returns: (N, last - first, columns, C) each; NO_TAP where a window holds no input.
    Source: TensorFlow core/kernels/maxpooling_op.cc, SpatialMaxPoolWithArgMaxHelper.
    """
    best = np.zeros((len(x), last - first, cols.out, x.shape[3]), x.dtype)
    chosen = np.full(best.shape, NO_TAP, np.int16)
    for tap, outputs, inputs in tap_slices(rows, cols, first, last):
        value, current, number = x[inputs], best[outputs], chosen[outputs]
        take = (number == NO_TAP) | (value > current)
        np.copyto(current, value, where=take)
        np.copyto(number, np.int16(tap), where=take)
    return best, chosen


def _route_plain(
    x: np.ndarray, y: np.ndarray, dy: np.ndarray, dx: np.ndarray, rows: Axis, cols: Axis, band: tuple[int, int]
) -> None:
    """dx += dy at the first input equal to y.  All fp32, inputs finite or +inf; bit masks instead of products.

    dy: scratch, used up.
    """
    left = dy.view(np.int32)
    touches = dx.view(np.int32) if rows.stride >= rows.kernel and cols.stride >= cols.kernel else None
    for _, outputs, inputs in tap_slices(rows, cols, *band):
        current = left[outputs]
        is_it = scratch("pool equal", current.shape, np.bool_)
        share = scratch("pool share", current.shape, np.int32)
        np.equal(x[inputs], y[outputs], out=is_it)
        mask = is_it.view(np.int8)
        np.negative(mask, out=mask)
        np.copyto(share, mask)  # all bits or none
        np.bitwise_and(share, current, out=share)
        np.bitwise_xor(current, share, out=current)
        if touches is not None:
            touches[inputs] = share
        else:
            dx[inputs] += share.view(np.float32)


def _route_exact(x: np.ndarray, dy: np.ndarray, dx: np.ndarray, rows: Axis, cols: Axis, band: tuple[int, int]) -> None:
    """dx += dy at the input that `choose_taps` settles on, whatever the values."""
    _, chosen = choose_taps(x, rows, cols, *band)
    for tap, outputs, inputs in tap_slices(rows, cols, *band):
        dx[inputs] += np.where(chosen[outputs] == tap, dy[outputs], dy.dtype.type(0))


def _is_plain(x: np.ndarray) -> bool:
    """Whether equality with the maximum finds the input that was chosen: no NaN, no minus infinity."""
    return x.dtype == np.float32 and bool(x.size) and bool(x.min() > -np.inf)


def _do_tile(rows: Axis, cols: Axis) -> bool:
    """Whether all windows are whole, lie side by side and cover the image."""
    return all(a.kernel == a.stride and a.kernel * a.out == a.extent and a.dilation == 1 for a in (rows, cols))


def max_gradient(
    x: np.ndarray, y: np.ndarray, dy: np.ndarray, rows: Axis, cols: Axis, dx: np.ndarray, passed: np.ndarray | None = None
) -> None:
    """dx = the gradient of each window at its chosen input.  Channels last; dx: as x, of the type sums are formed in.

    passed: as dy, takes the gradients of the windows whose chosen input is positive; then only those count, as behind a Relu.
    """
    do_tile = _do_tile(rows, cols)

    def route(images: slice, first: int, last: int) -> None:
        gradient, values, largest = dy[images, first:last], widen(x[images]), widen(y[images, first:last])
        top, bottom = rows.reach(first, last)
        is_plain = _is_plain(values[:, max(top, 0) : bottom])
        if passed is not None:
            chosen = largest if is_plain else choose_taps(values, rows, cols, first, last)[0]
            gradient = np.multiply(gradient, (chosen > 0).astype(gradient.dtype), out=passed[images, first:last])
        part = scratch("pool gradient", gradient.shape, dx.dtype)
        np.copyto(part, gradient)
        if is_plain:
            _route_plain(values, largest, part, dx[images], rows, cols, (first, last))
            return
        if do_tile:
            dx[images, top:bottom] = 0
        _route_exact(values, part, dx[images], rows, cols, (first, last))

    _over_images(dx, rows, route, is_cleared=not do_tile)


def _over_images(dx: np.ndarray, rows: Axis, add: Callable[[slice, int, int], None], is_cleared: bool = True) -> None:
    """Call add(images, first row, end row) for all blocks of dx, cleared before if so asked.

    Those of one image are added on one thread, as they may overlap.
    """
    by_images: dict[tuple[int, int], list[tuple[slice, int, int]]] = {}
    for block in blocks(len(dx), rows, dx.shape[2] * dx.shape[3]):
        by_images.setdefault((block[0].start, block[0].stop), []).append(block)
    groups = list(by_images.values())

    def work(start: int, stop: int) -> None:
        for group in groups[start:stop]:
            if is_cleared:
                dx[group[0][0]] = 0
            for block in group:
                add(*block)

    parallel_ranges(len(groups), work)


def mean_gradient(dy: np.ndarray, rows: Axis, cols: Axis, dx: np.ndarray) -> None:
    """dx = each window's gradient shared by its inputs: spread over columns, then over rows."""
    share = reciprocal_counts(rows, cols)

    def spread(images: slice, first: int, last: int) -> None:
        gradient = dy[images, first:last]
        part = scratch("pool gradient", gradient.shape, dx.dtype)
        np.multiply(gradient, share[first:last], out=part)
        lines = scratch("pool lines", (len(gradient), last - first, *dx.shape[2:]), dx.dtype)
        lines.fill(0)
        _spread(part, cols, 0, cols.out, 2, lines)
        _spread(lines, rows, first, last, 1, dx[images])

    _over_images(dx, rows, spread)


def _spread(source: np.ndarray, axis: Axis, first: int, last: int, place: int, target: np.ndarray) -> None:
    """target += source of outputs [first, last) at every tap along array axis `place`."""
    before = (slice(None),) * place
    for index in range(axis.kernel):
        outputs, inputs = axis.tap(index, first, last)
        if outputs.stop > outputs.start:
            to, of = (*before, inputs), (*before, outputs)
            target[to] += source[of]


def gradient_into(shape: tuple[int, ...], dtype: np.dtype, layout: Layout, out: np.ndarray | None,
                  fill: Callable[[np.ndarray], None]) -> np.ndarray:  # fmt: skip
    """A result of `shape` that `fill` writes, channels last and in the wide type, rounded once into the node's."""
    wide = compute_dtype(dtype)
    result = np.empty(shape, dtype) if out is None else out
    target = layout.channels_last(result)
    if wide == dtype and target.flags.c_contiguous:
        fill(target)
        return result
    dx = np.empty(target.shape, wide)
    fill(dx)
    np.copyto(target, dx, casting="unsafe")
    return result


def _max_grad_flops(inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: dict[str, Any]) -> float:
    """The pool again and one an output.  Source: TensorFlow flops_registry.py, _max_pool_grad_flops."""
    ksize = attrs["ksize"] if "ksize" in attrs else constant_ints(inputs[3]) or (1,)
    return float((math.prod(ksize) + 1) * n_elements(inputs[1]))


def _max_pool_grad(x: np.ndarray, y: np.ndarray, dy: np.ndarray, layout: Layout, extents: tuple[int, int],
                   out: np.ndarray | None, passed: np.ndarray | None = None) -> np.ndarray:  # fmt: skip
    image, result, gradient = (layout.channels_last(v) for v in (x, y, dy))
    rows, cols = layout.axes(image.shape[1:3], extents)
    expected = (len(x), rows.out, cols.out, image.shape[3])
    if result.shape != expected:
        raise InvalidArgument(f"Expected orig_output shape to be {shape_text(expected)}, but got {shape_text(result.shape)}")
    if gradient.shape != expected:
        raise InvalidArgument(f"Expected grad shape to be {shape_text(expected)}, but got {shape_text(gradient.shape)}")
    return gradient_into(x.shape, x.dtype, layout, out, lambda dx: max_gradient(image, result, gradient, rows, cols, dx, passed))


@kernel(
    "MaxPoolGrad", unit="vector", shape=same_as(0), dtypes=dt.FLOATS | {"int32", "int64", "uint8", "int16", "int8"},
    estimate=_max_grad_flops, refuse=refuse_depth_pool,
)  # fmt: skip
def max_pool_grad(
    orig_input: np.ndarray, orig_output: np.ndarray, grad: np.ndarray, /, *, ksize: Sequence[int], strides: Sequence[int],
    padding: str, explicit_paddings: Sequence[int] = (), data_format: str = "NHWC", out: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """Gradient of MaxPool: each window's goes to its first largest input, in row-major order.

    orig_input: the pool's input.  orig_output: its result.  grad: in the shape of the result.  Returns: as orig_input.
    Raises: InvalidArgument when the shapes do not belong together.
    Source: TensorFlow core/kernels/maxpooling_op.cc: a later input wins only when it is strictly greater.
    """
    layout, extents = pool_layout(ksize, strides, padding, data_format, explicit_paddings)
    return _max_pool_grad(orig_input, orig_output, grad, layout, extents, out)


@kernel(
    "MaxPoolGradV2", unit="vector", shape=same_as(0), dtypes=dt.FLOATS | {"int32", "int64", "uint8", "int16", "int8"},
    estimate=_max_grad_flops, refuse=refuse_depth_pool,
)  # fmt: skip
def max_pool_grad_v2(
    orig_input: np.ndarray, orig_output: np.ndarray, grad: np.ndarray, ksize: np.ndarray, strides: np.ndarray, /, *,
    padding: str, data_format: str = "NHWC", out: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """MaxPoolGrad with window and stride as (4,) int32 tensors.  Source: TensorFlow op `MaxPoolGradV2`."""
    layout, extents = pool_layout(ksize.tolist(), strides.tolist(), padding, data_format)
    return _max_pool_grad(orig_input, orig_output, grad, layout, extents, out)


def _relu_grad_shapes(orig_input: Spec, orig_output: Spec, grad: Spec, **attrs: Any) -> list[Shape]:
    return [orig_input.shape, grad.shape]


@kernel(
    POOLED_RELU_GRADIENT, unit="vector", shape=_relu_grad_shapes, dtypes=frozenset({"float32"}),
    estimate=lambda inputs, outputs, attrs: _max_grad_flops(inputs, outputs, attrs) + n_elements(outputs[0]),
)  # fmt: skip
def max_pool_relu_grad(
    orig_input: np.ndarray, orig_output: np.ndarray, grad: np.ndarray, /, *, ksize: Sequence[int], strides: Sequence[int],
    padding: str, explicit_paddings: Sequence[int] = (), out: tuple[np.ndarray | None, ...] | None = None,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """ReluGrad(MaxPoolGrad(orig_input, orig_output, grad), orig_input): a Relu's gradient taken where there are fewer of them.

    orig_input, orig_output, grad: as for MaxPoolGrad, channels last, fp32.  Returns: as orig_input; and as grad, the gradients
    that went anywhere, which have the same sum.  Raises: as MaxPoolGrad.
    """
    layout, extents = pool_layout(ksize, strides, padding, "NHWC", explicit_paddings)
    first, second = out or (None, None)
    passed = np.empty(grad.shape, np.float32) if second is None else second
    return _max_pool_grad(orig_input, orig_output, grad, layout, extents, first, passed), passed


def _avg_grad_shape(orig_input_shape: Spec, grad: Spec, **attrs: Any) -> Shape:
    return constant_ints(orig_input_shape) or (None,) * 4


def _avg_grad_flops(inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: dict[str, Any]) -> float:
    """Two a tap.  Source: TensorFlow flops_registry.py, _avg_pool_grad_flops."""
    return 2.0 * math.prod(attrs["ksize"]) * n_elements(inputs[1])


@kernel("AvgPoolGrad", unit="vector", shape=_avg_grad_shape, dtypes=dt.FLOATS, estimate=_avg_grad_flops, refuse=refuse_depth_pool)
def avg_pool_grad(
    orig_input_shape: np.ndarray, grad: np.ndarray, /, *, ksize: Sequence[int], strides: Sequence[int], padding: str,
    data_format: str = "NHWC", out: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """Gradient of AvgPool: each window's in equal parts to the inputs it covers.

    orig_input_shape: (4,) int32.  grad: in the shape of AvgPool's result.  Returns: shape orig_input_shape.
    Raises: InvalidArgument when grad has another shape.  Source: TensorFlow op `AvgPoolGrad`.
    """
    layout, extents = pool_layout(ksize, strides, padding, data_format)
    shape = tuple(int(n) for n in orig_input_shape)
    spatial = shape[2:] if layout.is_channels_first else shape[1:3]
    rows, cols = layout.axes(spatial, extents)
    expected = layout.original_shape(shape[0], rows.out, cols.out, layout.channels(shape) or 0)
    if grad.shape != expected:
        raise InvalidArgument(f"Expected grad shape to be {shape_text(expected)}, but got {shape_text(grad.shape)}")
    gradient = layout.channels_last(grad)
    return gradient_into(shape, grad.dtype, layout, out, lambda dx: mean_gradient(gradient, rows, cols, dx))
