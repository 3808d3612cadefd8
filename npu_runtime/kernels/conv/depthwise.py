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
from npu_runtime.kernels.conv.conv_gradients import check_gradient
from npu_runtime.kernels.conv.depthwise_sums import convolve, filter_gradient, input_gradient
from npu_runtime.kernels.half_storage import compute_dtype, widen
from npu_runtime.kernels.pool.pooling_gradients import gradient_into
from npu_runtime.kernels.shapes import constant_ints
from npu_runtime.kernels.windows.windows import Layout, check_rank


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
    return gradient_into(shape, input.dtype, layout, out, lambda y: convolve(image, w, rows, cols, y))


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
        shape, out_backprop.dtype, layout, out, lambda dx: input_gradient(dy, w, rows, cols, dx)
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
    dw = filter_gradient(image, dy, rows, cols).astype(compute_dtype(input.dtype)).reshape(sizes)
    if out is None:
        return dw.astype(input.dtype)
    np.copyto(out, dw, casting="unsafe")
    return out
