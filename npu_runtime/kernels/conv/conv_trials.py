"""The algorithm of a convolution or its gradient where a tuner chooses by the clock: each one runs on made-up operands."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import ModuleType

import numpy as np

from npu_runtime.kernels.algorithm_choice import Trial, chosen, operand, placeholder, trials_of
from npu_runtime.kernels.windows.windows import Axis

Run = Callable[[ModuleType], np.ndarray]
"""run(way): the result by a way."""


def chosen_way(
    kernel: str,
    ways: Mapping[str, ModuleType],
    default: ModuleType,
    shapes: tuple[tuple[int, ...], ...],
    axes: tuple[Axis, Axis],
    layout: tuple[bool, ...],
    prepare: Callable[[], Run],
) -> ModuleType:
    """One of the ways by name that take these shapes.

    shapes: of the image and the filter, which with their axes say what a way costs.  layout: what else the time depends on.
    prepare: makes the operands.
    """

    def by_name() -> Callable[[str], np.ndarray]:
        run = prepare()
        return lambda name: run(ways[name])

    def trials() -> dict[str, Trial]:
        x, w = (placeholder(shape, np.dtype(np.float32)) for shape in shapes)
        taken = [name for name, way in ways.items() if way is default or way.cost_ns(x, w, *axes) < math.inf]
        return trials_of(taken, by_name)

    names = {way: name for name, way in ways.items()}
    return ways[chosen(kernel, (shapes, axes, layout), names[default], trials)]


def filter_operand(w: np.ndarray) -> np.ndarray:
    """Made-up numbers in the shape of a filter and, as a gradient has it, with depth and filters exchanged.  w: (..., C, K)."""
    if w.strides[2] >= w.strides[3]:
        return operand(*w.shape)
    return operand(*w.shape[:2], w.shape[3], w.shape[2]).swapaxes(2, 3)


def result_like(out: np.ndarray) -> np.ndarray:
    """A new array like `out`: contiguous or, as a phase of a strided gradient, every other pixel.  out: (N, rows, columns, K)."""
    if out.flags.c_contiguous:
        return np.empty(out.shape, np.float32)
    n, rows, columns, depth = out.shape
    return np.empty((n, 2 * rows, 2 * columns, depth), np.float32)[:, ::2, ::2]
