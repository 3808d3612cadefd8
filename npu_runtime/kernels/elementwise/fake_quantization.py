"""Numbers moved to the nearest of a few levels, as if stored in as many bits, and what passes backwards.

Source: TensorFlow's core/kernels/fake_quant_ops_functor.h.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from npu_runtime.cost.work import per_element
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.shapes import same_as
from npu_runtime.kernels.variable_access import shape_text

Array = np.ndarray
HALF = np.float32(0.5)


class Levels(NamedTuple):
    """The range moved so that zero is a level: its ends and the distance of two levels."""

    low: Array
    high: Array
    scale: Array


def _levels(low: Array, high: Array, num_bits: int, narrow_range: bool) -> Levels:
    if not 2 <= num_bits <= 16:
        raise InvalidArgument(f"num_bits must be between 2 and 16, inclusive, got {num_bits}")
    first, last = np.float32(1 if narrow_range else 0), np.float32((1 << num_bits) - 1)
    with np.errstate(all="ignore"):
        scale = (high - low) / (last - first)
        zero = first - low / scale
        rounded = np.where(zero < first, first, np.where(zero > last, last, np.floor(zero + HALF))).astype(np.float32)
    return Levels((first - rounded) * scale, (last - rounded) * scale, scale)


def _quantized(x: Array, low: Array, high: Array, num_bits: int, narrow_range: bool) -> Array:
    levels = _levels(low, high, num_bits, narrow_range)
    with np.errstate(all="ignore"):
        inverse = np.float32(1) / levels.scale
        zero = np.floor(-levels.low * inverse + HALF)
        shifted = np.maximum(np.minimum(x, levels.high), levels.low) - levels.low
        made = (np.floor(shifted * inverse - zero + HALF)) * levels.scale
    return np.where((low == 0) & (high == 0), np.float32(0), made)


def _gradients(gradients: Array, x: Array, low: Array, high: Array, num_bits: int, narrow_range: bool) -> list[Array]:
    """The gradients by the input, by the low end and by the high end, element by element."""
    levels = _levels(low, high, num_bits, narrow_range)
    is_off = (low == 0) & (high == 0)
    zero = np.float32(0)
    inside = (x >= levels.low) & (x <= levels.high)
    return [
        np.where(inside | is_off, gradients, zero),
        np.where((x < levels.low) & ~is_off, gradients, zero),
        np.where((x > levels.high) & ~is_off, gradients, zero),
    ]


@kernel("FakeQuantWithMinMaxArgs", unit="vector", shape=same_as(0), estimate=per_element(6))
def fake_quant_args(
    inputs: Array, /, *, min: float = -6.0, max: float = 6.0, num_bits: int = 8, narrow_range: bool = False
) -> Array:
    """Levels between two fixed ends.  inputs: any shape, fp32.  Source: TensorFlow op `FakeQuantWithMinMaxArgs`."""
    return _quantized(inputs, np.asarray(min, np.float32), np.asarray(max, np.float32), num_bits, narrow_range)


@kernel("FakeQuantWithMinMaxArgsGradient", unit="vector", shape=same_as(0), estimate=per_element(2))
def fake_quant_args_gradient(
    gradients: Array, inputs: Array, /, *, min: float = -6.0, max: float = 6.0, num_bits: int = 8, narrow_range: bool = False
) -> Array:
    """The gradient where the input is between the ends.  Source: TensorFlow op `FakeQuantWithMinMaxArgsGradient`."""
    _check_same(gradients, inputs)
    return _gradients(gradients, inputs, np.asarray(min, np.float32), np.asarray(max, np.float32), num_bits, narrow_range)[0]


@kernel("FakeQuantWithMinMaxVars", unit="vector", shape=same_as(0), estimate=per_element(6), ranks={"min": 0, "max": 0})
def fake_quant_vars(inputs: Array, min: Array, max: Array, /, *, num_bits: int = 8, narrow_range: bool = False) -> Array:
    """Levels between two given ends.  inputs: any shape.  min, max: ().  Source: TensorFlow op `FakeQuantWithMinMaxVars`."""
    return _quantized(inputs, min, max, num_bits, narrow_range)


def _check_same(gradients: Array, inputs: Array) -> None:
    if gradients.shape != inputs.shape:
        both = f"{shape_text(gradients.shape)} and {shape_text(inputs.shape)}"
        raise InvalidArgument(f"gradient and input must be the same size, but have shapes {both}")


def _gradient_shapes(gradients: Spec, inputs: Spec, low: Spec, high: Spec, /, **attrs: Any) -> list[Shape]:
    return [inputs.shape, low.shape, high.shape]


@kernel(
    "FakeQuantWithMinMaxVarsGradient", unit="vector", shape=_gradient_shapes, estimate=per_element(4), ranks={"min": 0, "max": 0}
)
def fake_quant_vars_gradient(
    gradients: Array, inputs: Array, min: Array, max: Array, /, *, num_bits: int = 8, narrow_range: bool = False
) -> tuple[Array, ...]:
    """Gradients by the input and, summed, by both ends.  Source: TensorFlow op `FakeQuantWithMinMaxVarsGradient`."""
    _check_same(gradients, inputs)
    to_input, to_low, to_high = _gradients(gradients, inputs, min, max, num_bits, narrow_range)
    return to_input, np.asarray(to_low.sum(dtype=np.float32)), np.asarray(to_high.sum(dtype=np.float32))


def _check_channels(inputs: Array, low: Array, high: Array) -> None:
    depth = inputs.shape[-1] if inputs.ndim else 0
    for name, end in (("min", low), ("max", high)):
        if end.shape != (depth,):
            raise InvalidArgument(f"{name} has incorrect size, expected {depth} was {shape_text(end.shape)}")


@kernel("FakeQuantWithMinMaxVarsPerChannel", unit="vector", shape=same_as(0), estimate=per_element(6))
def fake_quant_channels(inputs: Array, min: Array, max: Array, /, *, num_bits: int = 8, narrow_range: bool = False) -> Array:
    """Levels of each channel's own.

    inputs: (..., C).  min, max: (C,).  Source: TensorFlow op `FakeQuantWithMinMaxVarsPerChannel`.
    """
    _check_channels(inputs, min, max)
    return _quantized(inputs, min, max, num_bits, narrow_range)


@kernel("FakeQuantWithMinMaxVarsPerChannelGradient", unit="vector", shape=_gradient_shapes, estimate=per_element(4))
def fake_quant_channels_gradient(
    gradients: Array, inputs: Array, min: Array, max: Array, /, *, num_bits: int = 8, narrow_range: bool = False
) -> tuple[Array, ...]:
    """Gradients by the input and by each channel's ends.  Source: TensorFlow op `FakeQuantWithMinMaxVarsPerChannelGradient`."""
    _check_same(gradients, inputs)
    _check_channels(inputs, min, max)
    to_input, *to_ends = _gradients(gradients, inputs, min, max, num_bits, narrow_range)
    return to_input, *(part.reshape(-1, inputs.shape[-1]).sum(axis=0, dtype=np.float32) for part in to_ends)
