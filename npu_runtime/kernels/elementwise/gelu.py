"""GELU in the two forms the device has, and their gradients: ops that TensorFlow knows only as a function's body."""

from __future__ import annotations

import math

import numpy as np

from npu_runtime.kernels.threads.tiling import elementwise

_SCALE = np.float32(math.sqrt(2.0 / math.pi))
_CUBIC = np.float32(0.044715)
_FAST = np.float32(1.702)
_HALF = np.float32(0.5)
_ONE = np.float32(1)


def _tanh_of_inner(x: np.ndarray, square: np.ndarray) -> np.ndarray:
    """tanh(sqrt(2/pi) (x + 0.044715 x^3)) for x and its square."""
    inner = square * _CUBIC
    inner += _ONE
    inner *= x
    inner *= _SCALE
    return np.tanh(inner, out=inner)


@elementwise("_NpuGelu", flops=9)
def gelu(out: np.ndarray, x: np.ndarray) -> None:
    """0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).  Source: the adapter's op Gelu."""
    gate = _tanh_of_inner(x, np.square(x))
    gate += _ONE
    gate *= _HALF
    np.multiply(gate, x, out=out)


@elementwise("_NpuGeluGrad", flops=18)
def gelu_gradient(out: np.ndarray, dy: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
    """dy times the derivative of GELU at x; y, the activation, is not needed.  Source: the adapter's op GeluGrad."""
    square = np.square(x)
    gate = _tanh_of_inner(x, square)
    slope = np.square(gate)
    np.subtract(_ONE, slope, out=slope)
    slope *= x
    square *= np.float32(3) * _CUBIC
    square += _ONE
    square *= _SCALE
    slope *= square
    slope += gate
    slope += _ONE
    slope *= _HALF
    np.multiply(slope, dy, out=out)


def _fast_gate(x: np.ndarray) -> np.ndarray:
    """sigmoid(1.702 x)."""
    gate = x * -_FAST
    np.exp(gate, out=gate)
    gate += _ONE
    return np.divide(_ONE, gate, out=gate)


@elementwise("_NpuFastGelu", flops=6)
def fast_gelu(out: np.ndarray, x: np.ndarray) -> None:
    """x sigmoid(1.702 x).  Source: the adapter's op FastGelu."""
    np.multiply(_fast_gate(x), x, out=out)


@elementwise("_NpuFastGeluGrad", flops=10)
def fast_gelu_gradient(out: np.ndarray, dy: np.ndarray, x: np.ndarray) -> None:
    """dy times the derivative of the faster GELU at x.  Source: the adapter's op FastGeluGrad."""
    gate = _fast_gate(x)
    slope = _ONE - gate
    slope *= x
    slope *= _FAST
    slope += _ONE
    slope *= gate
    np.multiply(slope, dy, out=out)
