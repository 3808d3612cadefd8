"""The places of the windows of convolutions and pools: strides, dilations and padding of one axis and of an image.

What follows from a node's attributes and shapes is kept: a step asks for the same again and again, and computing it takes
longer in a step, with cold caches, than a small convolution.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.variable_access import shape_text


@dataclass(frozen=True)
class Axis:
    """One spatial axis: output o reads input o * stride - before + tap * dilation for every tap of the kernel.

    extent: input elements.  out: outputs.  before: padding in front, negative when the first elements are never read.
    """

    extent: int
    kernel: int
    stride: int
    dilation: int
    before: int
    out: int

    @property
    def span(self) -> int:
        """Input elements from the first to the last tap of one window."""
        return (self.kernel - 1) * self.dilation + 1

    @property
    def is_pointwise(self) -> bool:
        """Whether output o reads input o and nothing else."""
        return (self.kernel, self.stride, self.before, self.extent) == (1, 1, 0, self.out)

    def reach(self, first: int, last: int) -> tuple[int, int]:
        """The input range [start, stop) that outputs [first, last) read; it may leave the input on both sides."""
        return first * self.stride - self.before, (last - 1) * self.stride - self.before + self.span

    def tap(self, index: int, first: int, last: int) -> tuple[slice, slice]:
        """The outputs of [first, last) whose tap `index` is inside the input: (outputs counted from first, inputs)."""
        offset = index * self.dilation - self.before
        low = max(first, -(offset // self.stride))
        high = max(low, min(last, (self.extent - 1 - offset) // self.stride + 1))
        start = low * self.stride + offset
        return slice(low - first, high - first), slice(start, start + (high - low) * self.stride, self.stride)

    def valid_counts(self) -> np.ndarray:
        """The number of taps of each window that lie inside the input.  Returns: (out,) int64."""
        starts = np.arange(self.out) * self.stride - self.before
        taps = starts[:, None] + np.arange(self.kernel) * self.dilation
        return ((taps >= 0) & (taps < self.extent)).sum(axis=1)


class Span(NamedTuple):
    """Outputs [first, last) of an axis, which see taps [low, high) inside the input, none where these are equal."""

    first: int
    last: int
    low: int
    high: int


@lru_cache(maxsize=4096)
def spans(axis: Axis) -> tuple[Span, ...]:
    """All outputs of an axis, neighbours that see the same taps together."""
    starts = np.arange(axis.out) * axis.stride - axis.before
    lows = np.clip(-(starts // axis.dilation), 0, axis.kernel).tolist()
    highs = np.clip(-((starts - axis.extent) // axis.dilation), 0, axis.kernel).tolist()
    found = []
    for (low, high), group in itertools.groupby(range(axis.out), key=lambda output: (lows[output], highs[output])):
        outputs = list(group)
        found.append(Span(outputs[0], outputs[-1] + 1, low, max(low, high)))
    return tuple(found)


@dataclass(frozen=True)
class Phase:
    """Input elements start, start + stride, ... of one axis: the taps that reach them, and where from.

    axis: the convolution of the gradient, without stride, that gives these elements.  taps: in the turned order.
    """

    start: int
    taps: slice
    axis: Axis


@lru_cache(maxsize=4096)
def phases(axis: Axis) -> tuple[Phase, ...]:
    """A strided convolution's input gradient is `stride` plain convolutions interleaved; none multiplies by zeros.

    Input start + stride * t is read by output o = t + shift - tap_index * dilation for every step-th tap from `first`.
    """
    step = axis.stride // math.gcd(axis.stride, axis.dilation)
    found = []
    for start in range(min(axis.stride, axis.extent)):
        hits = [tap for tap in range(min(step, axis.kernel)) if (start + axis.before - tap * axis.dilation) % axis.stride == 0]
        n_taps = len(range(hits[0], axis.kernel, step)) if hits else 0
        shift = (start + axis.before - hits[0] * axis.dilation) // axis.stride if hits else 0
        dilation = step * axis.dilation // axis.stride
        out = -(-(axis.extent - start) // axis.stride)
        last = hits[0] + (n_taps - 1) * step if hits else 0
        plain = Axis(axis.out, n_taps, 1, dilation, (n_taps - 1) * dilation - shift, out)
        found.append(Phase(start, _backwards(last, step, n_taps), plain))
    return tuple(found)


def _backwards(last: int, step: int, count: int) -> slice:
    """The slice that takes `count` taps from `last` down."""
    if count == 0:
        return slice(0, 0)
    end = last - count * step
    return slice(last, end if end >= 0 else None, -step)


def window_extent(
    extent: int | None, kernel: int | None, stride: int, dilation: int, padding: str, explicit: tuple[int, int] = (0, 0)
) -> tuple[int | None, int]:
    """(outputs, padding in front) of one axis; outputs None where the extent or kernel is unknown.

    Raises: InvalidArgument when the window does not fit, or does not move.
    Source: TensorFlow core/framework/kernel_shape_util.cc, GetWindowedOutputSizeVerbose.
    """
    if stride <= 0:
        raise InvalidArgument(f"Stride must be > 0, but got {stride}")
    if extent is None or kernel is None:
        return None, explicit[0]
    span = (kernel - 1) * dilation + 1
    if padding == "SAME":
        out = -(-extent // stride)
        return out, max(0, (out - 1) * stride + span - extent) // 2
    before, after = explicit if padding == "EXPLICIT" else (0, 0)
    out = (extent + before + after - span + stride) // stride
    if out < 0:
        raise InvalidArgument(
            f"Computed output size would be negative: {out} "
            f"[input_size: {extent}, effective_filter_size: {span}, stride: {stride}]"
        )
    return out, before


@dataclass(frozen=True)
class Layout:
    """Strides, dilations and padding of an op by axis, and where its axes are."""

    strides: tuple[int, int]
    dilations: tuple[int, int]
    padding: str
    explicit: tuple[tuple[int, int], tuple[int, int]]
    is_channels_first: bool

    @staticmethod
    def of(
        strides: Sequence[int], padding: str, data_format: str, dilations: Sequence[int] = (1, 1, 1, 1),
        explicit_paddings: Sequence[int] = (),
    ) -> Layout:  # fmt: skip
        """The layout by the attributes of a node.  Raises: InvalidArgument for strides or dilations of batch or channels."""
        return _layout(tuple(strides), padding, data_format, tuple(dilations), tuple(explicit_paddings))

    def axes(self, extents: Sequence[int], kernel: Sequence[int]) -> tuple[Axis, Axis]:
        """Rows and columns of an image of `extents` under a kernel."""
        return _axes(self, (extents[0], extents[1]), (kernel[0], kernel[1]))

    def out_shape(self, image: Shape, kernel: Sequence[int | None], channels: int | None) -> Shape:
        """Shape of the result for the image's own shape, unknown extents included."""
        batch, rows, cols = (None,) * 3 if image is None else image[:1] + (image[2:] if self.is_channels_first else image[1:3])
        out_rows, out_cols = (
            window_extent(n, k, s, d, self.padding, e)[0]
            for n, k, s, d, e in zip((rows, cols), kernel, self.strides, self.dilations, self.explicit, strict=True)
        )
        return (batch, channels, out_rows, out_cols) if self.is_channels_first else (batch, out_rows, out_cols, channels)

    def channels_last(self, x: np.ndarray) -> np.ndarray:
        """A view with the channels last."""
        return x.transpose(0, 2, 3, 1) if self.is_channels_first else x

    def original(self, x: np.ndarray) -> np.ndarray:
        """A view of a channels-last array in the op's own order."""
        return x.transpose(0, 3, 1, 2) if self.is_channels_first else x

    def original_shape(self, batch: int, rows: int, cols: int, channels: int) -> tuple[int, ...]:
        return (batch, channels, rows, cols) if self.is_channels_first else (batch, rows, cols, channels)

    def channels(self, shape: Shape) -> int | None:
        return None if shape is None else shape[1 if self.is_channels_first else 3]


@lru_cache(maxsize=1024)
def _layout(
    strides: tuple[int, ...], padding: str, data_format: str, dilations: tuple[int, ...], explicit_paddings: tuple[int, ...]
) -> Layout:
    first = data_format == "NCHW"
    rows, cols, channels = (2, 3, 1) if first else (1, 2, 3)
    for name, values in (("strides", strides), ("dilations", dilations)):
        if values[0] != 1 or values[channels] != 1:
            raise InvalidArgument(
                f"Current implementation does not yet support {name} in the batch and depth dimensions: {shape_text(values)}"
            )
    pairs = explicit_paddings or (0,) * 8
    explicit = ((pairs[2 * rows], pairs[2 * rows + 1]), (pairs[2 * cols], pairs[2 * cols + 1]))
    return Layout((strides[rows], strides[cols]), (dilations[rows], dilations[cols]), padding, explicit, first)


@lru_cache(maxsize=4096)
def _axes(layout: Layout, extents: tuple[int, int], kernel: tuple[int, int]) -> tuple[Axis, Axis]:
    made = []
    for index in (0, 1):
        stride, dilation = layout.strides[index], layout.dilations[index]
        out, before = window_extent(extents[index], kernel[index], stride, dilation, layout.padding, layout.explicit[index])
        made.append(Axis(extents[index], kernel[index], stride, dilation, before, out or 0))
    return made[0], made[1]


def check_rank(name: str, shape: Sequence[int | None], rank: int = 4) -> None:
    if len(shape) != rank:
        raise InvalidArgument(f"{name} must be {rank}-dimensional: {shape_text(shape)}")


def refuse_ranks(*indices: int, rank: int = 4) -> Any:
    """A `refuse` for ops whose inputs at `indices` have a known rank other than `rank`."""

    def refuse(specs: Sequence[Spec], attrs: dict[str, Any]) -> str | None:
        """Images or volumes of another rank."""
        wrong = [index for index in indices if specs[index].rank not in (None, rank)]
        return f"input {wrong[0]} has rank {specs[wrong[0]].rank}, not {rank}" if wrong else None

    return refuse
