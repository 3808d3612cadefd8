"""Bias: one value a channel added to every pixel, and its gradient."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.cost.work import per_input_element
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.half_storage import store, widen
from npu_runtime.kernels.shapes import same_as
from npu_runtime.kernels.threads.per_channel import FEW_LINES, SERIAL_ELEMENTS, column_sums, ones
from npu_runtime.kernels.threads.tiling import SMALL_STREAM, result_buffer, run_tiled, widened
from npu_runtime.kernels.variable_access import shape_text


def add_bias(out: np.ndarray, value: np.ndarray, bias: np.ndarray) -> None:
    np.add(value, bias, out=out)


_add = widened(add_bias)


def _check(value: np.ndarray, bias: np.ndarray, axis: int) -> None:
    """Source: TensorFlow core/kernels/bias_op.cc."""
    if value.ndim < 2:
        raise InvalidArgument(f"Input tensor must be at least 2D: {shape_text(value.shape)}")
    if bias.ndim != 1:
        raise InvalidArgument(f"Biases must be 1D: {shape_text(bias.shape)}")
    if value.shape[axis] != len(bias):
        raise InvalidArgument(
            f"Must provide as many biases as the {'last' if axis == -1 else 'channel'} dimension of the input tensor: "
            f"{shape_text(bias.shape)} vs. {value.shape[axis]} channels in {shape_text(value.shape)}"
        )


def _channel_axis(data_format: str) -> int:
    return -1 if data_format == "NHWC" else 1


def _small_sum(
    inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: Mapping[str, Any], is_planned: bool
) -> Callable[..., Any] | None:
    """See `base.Small`: numpy's addition."""
    value, bias = inputs
    fits = attrs.get("data_format", "NHWC") == "NHWC" and bias.shape == value.known_shape()[-1:] and value.rank != 1
    return np.add if fits and value.dtype == "float32" and 0 < math.prod(value.known_shape()) <= SMALL_STREAM else None


@kernel(
    "BiasAdd", unit="vector", shape=same_as(0), dtypes=dt.NUMBERS, estimate=per_input_element(1), inplace=(0,), small=_small_sum
)
def bias_add(value: np.ndarray, bias: np.ndarray, /, *, data_format: str = "NHWC", out: np.ndarray | None = None) -> np.ndarray:
    """value + bias along the channels.

    value: (N, ..., C), or (N, C, ...) with data_format NCHW, rank 2 or more.  bias: (C,).  Returns: as value.
    Raises: InvalidArgument when C differs.  Source: TensorFlow op `BiasAdd`.
    """
    axis = _channel_axis(data_format)
    _check(value, bias, axis)
    spread = bias if axis == -1 else bias.reshape(-1, *(1,) * (value.ndim - 2))
    return run_tiled(_add, result_buffer([value], None, out), value, spread)


@kernel("BiasAddV1", unit="vector", shape=same_as(0), dtypes=dt.NUMBERS, estimate=per_input_element(1), inplace=(0,))
def bias_add_v1(value: np.ndarray, bias: np.ndarray, /, *, out: np.ndarray | None = None) -> np.ndarray:
    """BiasAdd with the channels last.  Source: TensorFlow op `BiasAddV1`."""
    return bias_add(value, bias, out=out)


def _grad_shape(out_backprop: Spec, *, data_format: str = "NHWC") -> Shape:
    if out_backprop.shape is None or len(out_backprop.shape) < 2:
        return (None,)
    return (out_backprop.shape[_channel_axis(data_format)],)


def _grad_flops(inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: dict[str, Any]) -> float:
    """An addition for each input element but the first of a channel.  Source: flops_registry.py, BiasAddGrad as Sum."""
    return float(max(0, math.prod(inputs[0].known_shape()) - math.prod(outputs[0].known_shape())))


def _small_gradient(
    inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: Mapping[str, Any], is_planned: bool
) -> Callable[..., Any] | None:
    """See `base.Small`: one product with ones, as `column_sums` makes of few lines."""
    shape = inputs[0].known_shape()
    pixels, channels = math.prod(shape[:-1]), shape[-1] if shape else 0
    if inputs[0].dtype != "float32" or attrs.get("data_format", "NHWC") != "NHWC" or len(shape) < 2:
        return None
    if not 0 < pixels <= FEW_LINES or not 0 < channels <= SERIAL_ELEMENTS // pixels:
        return None

    def run(gradient: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        return np.matmul(ones(pixels), np.ascontiguousarray(gradient).reshape(pixels, channels), out)

    return run


@kernel("BiasAddGrad", unit="vector", shape=_grad_shape, dtypes=dt.NUMBERS, estimate=_grad_flops, small=_small_gradient)
def bias_add_grad(out_backprop: np.ndarray, /, *, data_format: str = "NHWC", out: np.ndarray | None = None) -> np.ndarray:
    """Sum of the gradient over everything but the channels.

    out_backprop: (N, ..., C) or (N, C, ...).  Returns: (C,), summed in fp32 blocks for floats.
    Raises: InvalidArgument for a rank below 2.  Source: TensorFlow op `BiasAddGrad`.
    """
    if out_backprop.ndim < 2:
        raise InvalidArgument(f"Input tensor must be at least 2D: {shape_text(out_backprop.shape)}")
    axis = _channel_axis(data_format)
    dtype = out_backprop.dtype
    if dtype.kind in "iu":
        axes = tuple(n for n in range(out_backprop.ndim) if n != axis % out_backprop.ndim)
        return store(out_backprop.sum(axis=axes, dtype=dtype), dtype, out)
    wide = widen(out_backprop)
    if axis == -1:
        sums = column_sums(np.ascontiguousarray(wide).reshape(math.prod(wide.shape[:-1]), wide.shape[-1]))
    else:
        planes = wide.reshape(*wide.shape[:2], math.prod(wide.shape[2:]))
        sums = planes.sum(axis=2).sum(axis=0, dtype=np.float64)
    return store(sums, dtype, out)
