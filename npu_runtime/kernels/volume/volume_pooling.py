"""Pools of volumes on the vector unit: along the planes first, then as pools of images; and their gradients."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.cost.work import n_elements
from npu_runtime.errors import InvalidArgument, Unimplemented
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.half_storage import store, widen
from npu_runtime.kernels.pool.pooling import gather_axis, lowest, pool
from npu_runtime.kernels.shapes import constant_ints, same_as
from npu_runtime.kernels.variable_access import shape_text
from npu_runtime.kernels.volume.volumes import VolumeLayout
from npu_runtime.kernels.windows.windows import Axis, check_rank

Array = np.ndarray


def _layout(ksize: Sequence[int], strides: Sequence[int], padding: str, data_format: str) -> tuple[VolumeLayout, tuple[int, ...]]:
    """Layout and window. Raises: Unimplemented for windows over batch or channels."""
    channels = 1 if data_format == "NCDHW" else 4
    if any(sizes[axis] != 1 for sizes in (ksize, strides) for axis in (0, channels)):
        sizes = f"ksize {shape_text(ksize)}, strides {shape_text(strides)}"
        raise Unimplemented(f"Pooling is not yet supported on the batch and depth dimensions: {sizes}")
    layout = VolumeLayout.of(strides, padding, data_format)
    return layout, tuple(ksize[2:5] if layout.is_channels_first else ksize[1:4])


def _pool_shape(
    input: Spec, /, *, ksize: Sequence[int], strides: Sequence[int], padding: str, data_format: str = "NDHWC"
) -> Shape:
    layout, window = _layout(ksize, strides, padding, data_format)
    shape = layout.last_shape(input.shape)
    if shape is None:
        return (None,) * 5
    check_rank("tensor_in", shape, 5)
    return layout.original_shape(shape[0], layout.out_extents(shape[1:4], window), shape[4])


def _pool_flops(inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: dict[str, Any]) -> float:
    """One a tap, as for images."""
    return float(math.prod(attrs["ksize"]) * n_elements(outputs[0]))


def _grad_flops(inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: dict[str, Any]) -> float:
    """Two a tap: compare and add, or divide and add."""
    return 2.0 * math.prod(attrs["ksize"]) * n_elements(inputs[-1])


def _reduce(x: Array, axes: Sequence[Axis], combine: Any, neutral: Any) -> Array:
    """All windows of x combined.  x: (N, D, H, W, C).  Returns: (N, planes, rows, columns, C)."""
    planes, rows, cols = axes
    lines = np.empty((len(x), planes.out, *x.shape[2:]), x.dtype)
    gather_axis(x, planes, 0, planes.out, 1, combine, neutral, lines)
    made = np.empty((len(x) * planes.out, rows.out, cols.out, x.shape[4]), x.dtype)
    pool(lines.reshape(len(x) * planes.out, *x.shape[2:]), rows, cols, combine, neutral, made)
    return made.reshape(len(x), planes.out, rows.out, cols.out, x.shape[4])


def _counts(axes: Sequence[Axis]) -> Array:
    """Taps inside the volume of every window: (planes, rows, columns, 1) fp32."""
    planes, rows, cols = (np.maximum(axis.valid_counts(), 1) for axis in axes)
    return (planes[:, None, None] * rows[:, None] * cols).astype(np.float32)[..., None]


@kernel("MaxPool3D", unit="vector", shape=_pool_shape, dtypes=dt.FLOATS, estimate=_pool_flops)
def max_pool3d(
    input: Array, /, *, ksize: Sequence[int], strides: Sequence[int], padding: str, data_format: str = "NDHWC",
    out: Array | None = None,
) -> Array:  # fmt: skip
    """Largest value of each window; padding never wins.

    input: (N, D, H, W, C), or channels first with data_format NCDHW.  Returns: the windows' grid in the same layout.
    Source: TensorFlow op `MaxPool3D`.
    """
    layout, window = _layout(ksize, strides, padding, data_format)
    check_rank("tensor_in", input.shape, 5)
    x = widen(layout.channels_last(input))
    made = _reduce(x, layout.axes(x.shape[1:4], window), np.fmax, lowest(x.dtype))
    return store(np.ascontiguousarray(layout.original(made)), input.dtype, out)


@kernel("AvgPool3D", unit="vector", shape=_pool_shape, dtypes=dt.FLOATS, estimate=_pool_flops)
def avg_pool3d(
    input: Array, /, *, ksize: Sequence[int], strides: Sequence[int], padding: str, data_format: str = "NDHWC",
    out: Array | None = None,
) -> Array:  # fmt: skip
    """Mean of each window; padding does not count.

    input: (N, D, H, W, C), or channels first with data_format NCDHW.  Returns: the windows' grid in the same layout.
    Source: TensorFlow op `AvgPool3D`.
    """
    layout, window = _layout(ksize, strides, padding, data_format)
    check_rank("tensor_in", input.shape, 5)
    x = widen(layout.channels_last(input))
    axes = layout.axes(x.shape[1:4], window)
    made = _reduce(x, axes, np.add, 0) / _counts(axes)
    return store(np.ascontiguousarray(layout.original(made)), input.dtype, out)


Slices = tuple[slice, ...]


def _taps(axes: Sequence[Axis]) -> list[tuple[Slices, Slices]]:
    """(outputs, inputs) of every tap that reaches into the volume."""
    by_axis = [[axis.tap(index, 0, axis.out) for index in range(axis.kernel)] for axis in axes]
    whole = (slice(None),)
    return [(whole + tuple(o for o, _ in taps), whole + tuple(i for _, i in taps)) for taps in itertools.product(*by_axis)]


@kernel("MaxPool3DGrad", unit="vector", shape=same_as(0), dtypes={"T": dt.FLOATS, "TInput": dt.FLOATS}, estimate=_grad_flops)
def max_pool3d_grad(
    orig_input: Array, orig_output: Array, grad: Array, /, *, ksize: Sequence[int], strides: Sequence[int], padding: str,
    data_format: str = "NDHWC", out: Array | None = None,
) -> Array:  # fmt: skip
    """Gradient of MaxPool3D: each window's goes to its first largest input.

    orig_input: the pool's input.  orig_output: its result.  grad: in the shape of the result.  Returns: as orig_input.
    Raises: InvalidArgument when the shapes do not belong together.  Source: TensorFlow op `MaxPool3DGrad` behind
    its `MaxPool3D`, where oneDNN runs both; alone it goes to every input within 1e-5 of the maximum.
    """
    layout, window = _layout(ksize, strides, padding, data_format)
    x, y, dy = (widen(layout.channels_last(value)) for value in (orig_input, orig_output, grad))
    axes = layout.axes(x.shape[1:4], window)
    _check_shapes((len(x), *(axis.out for axis in axes), x.shape[4]), y, dy)
    dx = np.zeros(x.shape, dy.dtype)
    is_waiting = np.ones(y.shape, bool)
    for outputs, inputs in _taps(axes):
        is_first = (x[inputs] == y[outputs]) & is_waiting[outputs]
        is_waiting[outputs] &= ~is_first
        dx[inputs] += np.where(is_first, dy[outputs], np.float32(0))
    return store(np.ascontiguousarray(layout.original(dx)), grad.dtype, out)


def _check_shapes(expected: tuple[int, ...], *given: Array) -> None:
    for array in given:
        if array.shape != expected:
            raise InvalidArgument(f"Expected grad shape to be {list(expected)}, but got {list(array.shape)}")


def _avg_grad_shape(orig_input_shape: Spec, grad: Spec, /, **attrs: Any) -> Shape:
    return constant_ints(orig_input_shape) or (None,) * 5


@kernel("AvgPool3DGrad", unit="vector", shape=_avg_grad_shape, dtypes=dt.FLOATS, estimate=_grad_flops)
def avg_pool3d_grad(
    orig_input_shape: Array, grad: Array, /, *, ksize: Sequence[int], strides: Sequence[int], padding: str,
    data_format: str = "NDHWC", out: Array | None = None,
) -> Array:  # fmt: skip
    """Gradient of AvgPool3D: each window's in equal parts to the inputs it covers.

    orig_input_shape: (5,) int32.  grad: in the shape of AvgPool3D's result.  Returns: shape orig_input_shape.
    Raises: InvalidArgument when grad has another shape.  Source: TensorFlow op `AvgPool3DGrad`.
    """
    layout, window = _layout(ksize, strides, padding, data_format)
    shape = layout.last_extents(orig_input_shape)
    dy = widen(layout.channels_last(grad))
    axes = layout.axes(shape[1:4], window)
    _check_shapes((shape[0], *(axis.out for axis in axes), shape[4]), dy)
    share = dy / _counts(axes)
    dx = np.zeros(shape, dy.dtype)
    for outputs, inputs in _taps(axes):
        dx[inputs] += share[outputs]
    return store(np.ascontiguousarray(layout.original(dx)), grad.dtype, out)
