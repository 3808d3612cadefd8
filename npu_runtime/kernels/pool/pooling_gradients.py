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
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.half_storage import compute_dtype
from npu_runtime.kernels.pool.pool_routing import max_gradient, tap_slices
from npu_runtime.kernels.pool.pooling import MAXIMA, blocks, pool_layout, pool_shape, reciprocal_counts, refuse_depth_pool
from npu_runtime.kernels.shapes import constant_ints, same_as
from npu_runtime.kernels.threads.parallel import parallel_ranges, scratch
from npu_runtime.kernels.variable_access import shape_text
from npu_runtime.kernels.windows.windows import Axis, Layout


def _over_images(dx: np.ndarray, rows: Axis, add: Callable[[slice, int, int], None]) -> None:
    """Call add(images, first row, end row) for all blocks of dx, cleared before.

    Those of one image are added on one thread, as they may overlap.
    """
    by_images: dict[tuple[int, int], list[tuple[slice, int, int]]] = {}
    for block in blocks(len(dx), rows, dx.shape[2] * dx.shape[3]):
        by_images.setdefault((block[0].start, block[0].stop), []).append(block)
    groups = list(by_images.values())

    def work(start: int, stop: int) -> None:
        for group in groups[start:stop]:
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


def max_grad_flops(inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: dict[str, Any]) -> float:
    """The pool again and one an output.  Source: TensorFlow flops_registry.py, _max_pool_grad_flops."""
    ksize = attrs["ksize"] if "ksize" in attrs else constant_ints(inputs[3]) or (1,)
    return float((math.prod(ksize) + 1) * n_elements(inputs[1]))


def max_pool_gradient(x: np.ndarray, y: np.ndarray, dy: np.ndarray, layout: Layout, extents: tuple[int, int],
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
    "MaxPoolGrad", unit="vector", shape=same_as(0), dtypes=MAXIMA,
    estimate=max_grad_flops, refuse=refuse_depth_pool,
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
    return max_pool_gradient(orig_input, orig_output, grad, layout, extents, out)


@kernel(
    "MaxPoolGradV2", unit="vector", shape=same_as(0), dtypes=MAXIMA,
    estimate=max_grad_flops, refuse=refuse_depth_pool,
)  # fmt: skip
def max_pool_grad_v2(
    orig_input: np.ndarray, orig_output: np.ndarray, grad: np.ndarray, ksize: np.ndarray, strides: np.ndarray, /, *,
    padding: str, data_format: str = "NHWC", out: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """MaxPoolGrad with window and stride as (4,) int32 tensors.  Source: TensorFlow op `MaxPoolGradV2`."""
    layout, extents = pool_layout(ksize.tolist(), strides.tolist(), padding, data_format)
    return max_pool_gradient(orig_input, orig_output, grad, layout, extents, out)


def _second_shape(orig_input: Spec, orig_output: Spec, grad: Spec, *sizes: Spec, **attrs: Any) -> Shape:
    return pool_shape(orig_input, *sizes, **attrs)


def _max_pool_grad_grad(x: np.ndarray, y: np.ndarray, ddx: np.ndarray, layout: Layout, extents: tuple[int, int],
                        out: np.ndarray | None) -> np.ndarray:  # fmt: skip
    image, largest, gradient = (layout.channels_last(v) for v in (x, y, ddx))
    rows, cols = layout.axes(image.shape[1:3], extents)
    for name, shape, expected in (("orig_output", largest.shape, (len(image), rows.out, cols.out, image.shape[3])),
                                  ("grad", gradient.shape, image.shape)):  # fmt: skip
        if shape != expected:
            raise InvalidArgument(f"Expected {name} shape to be {shape_text(expected)}, but got {shape_text(shape)}")
    result = np.empty(y.shape, x.dtype) if out is None else out
    target = layout.channels_last(result)

    def work(start: int, stop: int) -> None:
        images = slice(start, stop)
        target[images] = 0
        is_open = np.ones(target[images].shape, np.bool_)
        for _, outputs, inputs in tap_slices(rows, cols):
            is_it = np.equal(image[images][inputs], largest[images][outputs]) & is_open[outputs]
            np.copyto(target[images][outputs], gradient[images][inputs], where=is_it)
            is_open[outputs] ^= is_it

    parallel_ranges(len(image), work)
    return result


@kernel(
    "MaxPoolGradGrad", unit="vector", shape=_second_shape, dtypes=MAXIMA,
    estimate=max_grad_flops, refuse=refuse_depth_pool,
)  # fmt: skip
def max_pool_grad_grad(
    orig_input: np.ndarray, orig_output: np.ndarray, grad: np.ndarray, /, *, ksize: Sequence[int], strides: Sequence[int],
    padding: str, data_format: str = "NHWC", out: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """The second gradient of MaxPool: what grad holds at the first input of each window that is its result, 0 where none is.

    orig_input: the pool's input.  orig_output: its result.  grad: as orig_input.  Returns: as orig_output.
    Raises: InvalidArgument when the shapes do not belong together.
    Source: TensorFlow core/kernels/maxpooling_op.cc, SpatialMaxPoolGradGrad.
    """
    layout, extents = pool_layout(ksize, strides, padding, data_format)
    return _max_pool_grad_grad(orig_input, orig_output, grad, layout, extents, out)


@kernel(
    "MaxPoolGradGradV2", unit="vector", shape=_second_shape, dtypes=MAXIMA,
    estimate=max_grad_flops, refuse=refuse_depth_pool,
)  # fmt: skip
def max_pool_grad_grad_v2(
    orig_input: np.ndarray, orig_output: np.ndarray, grad: np.ndarray, ksize: np.ndarray, strides: np.ndarray, /, *,
    padding: str, data_format: str = "NHWC", out: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """MaxPoolGradGrad with window and stride as (4,) int32 tensors.  Source: TensorFlow op `MaxPoolGradGradV2`."""
    layout, extents = pool_layout(ksize.tolist(), strides.tolist(), padding, data_format)
    return _max_pool_grad_grad(orig_input, orig_output, grad, layout, extents, out)


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
