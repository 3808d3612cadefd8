"""Convolution of volumes on the cube unit: the taps along the planes become channels, the rest is one convolution of images."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.conv.conv import check_depths, convolve
from npu_runtime.kernels.conv.conv_gradients import filter_gradient, input_gradient
from npu_runtime.kernels.half_storage import compute_dtype, store, widen
from npu_runtime.kernels.shapes import constant_ints
from npu_runtime.kernels.windows.windows import Axis, check_rank, refuse_ranks, window_extent

Array = np.ndarray


@dataclass(frozen=True)
class VolumeLayout:
    """Strides and dilations by axis (planes, rows, columns), padding, and where the channels are."""

    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    padding: str
    is_channels_first: bool

    @staticmethod
    def of(strides: Sequence[int], padding: str, data_format: str, dilations: Sequence[int] = (1,) * 5) -> VolumeLayout:
        """The layout by a node's attributes.  Raises: InvalidArgument for strides or dilations of batch or channels."""
        is_first = data_format == "NCDHW"
        spatial = slice(2, 5) if is_first else slice(1, 4)
        for name, values in (("strides", strides), ("dilations", dilations)):
            if values[0] != 1 or values[1 if is_first else 4] != 1:
                raise InvalidArgument(f"Current implementation does not yet support {name} in the batch and depth dimensions.")
        return VolumeLayout(tuple(strides[spatial]), tuple(dilations[spatial]), padding, is_first)

    def channels_last(self, x: Array) -> Array:
        """A view with the channels last."""
        return np.moveaxis(x, 1, 4) if self.is_channels_first else x

    def original(self, x: Array) -> Array:
        return np.moveaxis(x, 4, 1) if self.is_channels_first else x

    def last_shape(self, shape: Shape) -> Shape:
        """A shape in this layout with the channels last."""
        return None if shape is None else (shape[0], *shape[2:], shape[1]) if self.is_channels_first else shape

    def last_extents(self, sizes: Array) -> tuple[int, ...]:
        """A shape given as a tensor in this layout, with the channels last."""
        batch, *rest = (int(n) for n in sizes)
        return (batch, *rest[1:], rest[0]) if self.is_channels_first else (batch, *rest)

    def original_shape(self, batch: Any, extents: Sequence[Any], channels: Any) -> tuple[Any, ...]:
        return (batch, channels, *extents) if self.is_channels_first else (batch, *extents, channels)

    def axes(self, extents: Sequence[int], kernel: Sequence[int]) -> list[Axis]:
        """Planes, rows and columns under a kernel. Raises: InvalidArgument when it does not fit."""
        made = []
        for extent, size, stride, dilation in zip(extents, kernel, self.strides, self.dilations, strict=True):
            out, before = window_extent(extent, size, stride, dilation, self.padding)
            made.append(Axis(extent, size, stride, dilation, before, out or 0))
        return made

    def out_extents(self, extents: Sequence[int | None], kernel: Sequence[int | None]) -> list[int | None]:
        parts = zip(extents, kernel, self.strides, self.dilations, strict=True)
        return [window_extent(n, k, stride, dilation, self.padding)[0] for n, k, stride, dilation in parts]


def fold_planes(x: Array, planes: Axis, groups: int) -> Array:
    """Images of each output plane, the planes that its taps see side by side in the channels of each group.

    x: (N, D, H, W, groups * C).  Returns: (N * planes.out, H, W, groups * taps * C).
    """
    n, _, height, width, channels = x.shape
    if planes.is_pointwise:
        return np.ascontiguousarray(x).reshape(n * planes.out, height, width, channels)
    parts = x.reshape(*x.shape[:4], groups, channels // groups)
    made = np.zeros((n, planes.out, height, width, groups, planes.kernel, channels // groups), x.dtype)
    for tap in range(planes.kernel):
        outputs, inputs = planes.tap(tap, 0, planes.out)
        made[:, outputs, :, :, :, tap] = parts[:, inputs]
    return made.reshape(n * planes.out, height, width, planes.kernel * channels)


def unfold_planes(images: Array, planes: Axis, groups: int, out: Array) -> None:
    """The reverse of `fold_planes` for gradients: what each plane gave to several outputs is added up in `out`."""
    n, depth, height, width, channels = out.shape
    if planes.is_pointwise:
        out[...] = images.reshape(out.shape)
        return
    parts = out.reshape(n, depth, height, width, groups, channels // groups)
    taps = images.reshape(n, planes.out, height, width, groups, planes.kernel, channels // groups)
    out[...] = 0
    for tap in range(planes.kernel):
        outputs, inputs = planes.tap(tap, 0, planes.out)
        parts[:, inputs] += taps[:, outputs, :, :, :, tap]


def fold_filter(w: Array) -> Array:
    """(planes, rows, columns, C, K) -> (rows, columns, planes * C, K) contiguous."""
    depth, height, width, channels, filters = w.shape
    return np.ascontiguousarray(w.transpose(1, 2, 0, 3, 4)).reshape(height, width, depth * channels, filters)


def _extents(shape: Shape) -> tuple[int | None, ...]:
    if shape is None:
        return (None,) * 5
    check_rank("tensor", shape, 5)
    return shape


def _conv_shape(
    input: Spec, filter: Spec, /, *, strides: Sequence[int], padding: str, data_format: str = "NDHWC",
    dilations: Sequence[int] = (1,) * 5,
) -> Shape:  # fmt: skip
    layout = VolumeLayout.of(strides, padding, data_format, dilations)
    image, weights = _extents(layout.last_shape(input.shape)), _extents(filter.shape)
    check_depths(image[4], weights[3], weights[4])
    return layout.original_shape(image[0], layout.out_extents(image[1:4], weights[:3]), weights[4])


def _conv_flops(inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: dict[str, Any]) -> float:
    """2 a tap and output, as for images.  Source: TensorFlow's profiler has no figure for volumes."""
    return 2.0 * math.prod(outputs[0].known_shape()) * math.prod(inputs[1].known_shape()[:4])


@kernel("Conv3D", unit="cube", shape=_conv_shape, dtypes=dt.FLOATS, estimate=_conv_flops, refuse=refuse_ranks(0, 1, rank=5))
def conv3d(
    input: Array, filter: Array, /, *, strides: Sequence[int], padding: str, data_format: str = "NDHWC",
    dilations: Sequence[int] = (1,) * 5, out: Array | None = None,
) -> Array:  # fmt: skip
    """Three-dimensional convolution (correlation: the filter is not turned).

    input: (N, D, H, W, groups * C), or channels first with data_format NCDHW.  filter: (planes, rows, columns, C, K).
    Returns: (N, D', H', W', K) in the input's layout; 16-bit floats are summed in fp32 and rounded once.
    Raises: InvalidArgument for depths that do not divide, or a window that does not fit.  Source: TensorFlow op `Conv3D`.
    """
    check_rank("input", input.shape, 5)
    check_rank("filter", filter.shape, 5)
    layout = VolumeLayout.of(strides, padding, data_format, dilations)
    x, w = widen(layout.channels_last(input)), widen(filter)
    check_depths(x.shape[4], w.shape[3], w.shape[4])
    planes, rows, cols = layout.axes(x.shape[1:4], w.shape[:3])
    made = np.empty((len(x) * planes.out, rows.out, cols.out, w.shape[4]), x.dtype)
    if made.size:
        convolve(fold_planes(x, planes, x.shape[4] // max(1, w.shape[3])), fold_filter(w), rows, cols, made)
    result = made.reshape(len(x), planes.out, rows.out, cols.out, w.shape[4])
    return store(np.ascontiguousarray(layout.original(result)), input.dtype, out)


def _as_images(dy: Array) -> Array:
    """(N, planes, ...) -> (N * planes, ...) contiguous, also where nothing is in it."""
    return np.ascontiguousarray(dy).reshape(dy.shape[0] * dy.shape[1], *dy.shape[2:])


def _check_gradient(dy: Array, batch: int, axes: Sequence[Axis], filters: int) -> None:
    expected = (batch, *(axis.out for axis in axes), filters)
    if dy.shape != expected:
        raise InvalidArgument(
            f"Size of out_backprop doesn't match computed: actual = {list(dy.shape)}, computed = {list(expected)} "
            "(batch, planes, rows, columns, depth)"
        )


def _backprop_flops(inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: dict[str, Any]) -> float:
    """Flops as of the convolution itself."""
    is_by_input = inputs[0].rank == 1
    weights = inputs[1] if is_by_input else outputs[0]
    return 2.0 * math.prod(inputs[2].known_shape()) * math.prod(weights.known_shape()[:4])


def _sizes_shape(sizes: Spec, *others: Spec, **attrs: Any) -> Shape:
    return constant_ints(sizes) or (None,) * 5


@kernel("Conv3DBackpropInputV2", unit="cube", shape=_sizes_shape, estimate=_backprop_flops, refuse=refuse_ranks(1, 2, rank=5),
        dtypes={"T": dt.FLOATS, "Tshape": dt.INDICES})  # fmt: skip
def conv3d_backprop_input(
    input_sizes: Array, filter: Array, out_backprop: Array, /, *, strides: Sequence[int], padding: str,
    data_format: str = "NDHWC", dilations: Sequence[int] = (1,) * 5, out: Array | None = None,
) -> Array:  # fmt: skip
    """Gradient of Conv3D by its input; also the transposed convolution.

    input_sizes: (5,), shape of the input.  filter: (planes, rows, columns, C, K).  out_backprop: as Conv3D's result.
    Raises: InvalidArgument when out_backprop is not what Conv3D would give.  Source: op `Conv3DBackpropInputV2`.
    """
    check_rank("filter", filter.shape, 5)
    check_rank("out_backprop", out_backprop.shape, 5)
    layout = VolumeLayout.of(strides, padding, data_format, dilations)
    dy, w = widen(layout.channels_last(out_backprop)), widen(filter)
    extents = layout.last_extents(input_sizes)
    check_depths(extents[4], w.shape[3], w.shape[4])
    planes, rows, cols = layout.axes(extents[1:4], w.shape[:3])
    _check_gradient(dy, extents[0], (planes, rows, cols), w.shape[4])
    groups = extents[4] // max(1, w.shape[3])
    images = np.empty((len(dy) * planes.out, rows.extent, cols.extent, planes.kernel * extents[4]), dy.dtype)
    input_gradient(_as_images(dy), fold_filter(w), rows, cols, images)
    dx = np.empty(extents, compute_dtype(dy.dtype))
    unfold_planes(images, planes, groups, dx)
    return store(np.ascontiguousarray(layout.original(dx)), out_backprop.dtype, out)


def _filter_shape(input: Spec, filter_sizes: Spec, out_backprop: Spec, /, **attrs: Any) -> Shape:
    return constant_ints(filter_sizes) or (None,) * 5


@kernel("Conv3DBackpropFilterV2", unit="cube", shape=_filter_shape, dtypes=dt.FLOATS, estimate=_backprop_flops,
        refuse=refuse_ranks(0, 2, rank=5))  # fmt: skip
def conv3d_backprop_filter(
    input: Array, filter_sizes: Array, out_backprop: Array, /, *, strides: Sequence[int], padding: str,
    data_format: str = "NDHWC", dilations: Sequence[int] = (1,) * 5, out: Array | None = None,
) -> Array:  # fmt: skip
    """Gradient of Conv3D by its filter.

    input: as Conv3D's.  filter_sizes: (5,) int32.  out_backprop: as Conv3D's result.  Returns: shape filter_sizes.
    Raises: InvalidArgument when out_backprop is not what Conv3D would give.  Source: op `Conv3DBackpropFilterV2`.
    """
    check_rank("input", input.shape, 5)
    check_rank("out_backprop", out_backprop.shape, 5)
    layout = VolumeLayout.of(strides, padding, data_format, dilations)
    x, dy = widen(layout.channels_last(input)), widen(layout.channels_last(out_backprop))
    check_rank("filter", filter_sizes.tolist(), 5)
    depth, height, width, channels, filters = (int(n) for n in filter_sizes)
    check_depths(x.shape[4], channels, filters)
    planes, rows, cols = layout.axes(x.shape[1:4], (depth, height, width))
    _check_gradient(dy, len(x), (planes, rows, cols), filters)
    folded = np.empty((height, width, depth * channels, filters), x.dtype)
    images = fold_planes(x, planes, x.shape[4] // max(1, channels))
    filter_gradient(images, _as_images(dy), rows, cols, folded)
    dw = folded.reshape(height, width, depth, channels, filters).transpose(2, 0, 1, 3, 4)
    return store(np.ascontiguousarray(dw), input.dtype, out)
