"""Columns of images apart by the phase of the stride, so that windows which lie two apart are read from whole lines.

numpy's inner loop ends after the few channels of a pixel where columns are skipped; a copy of pixels as opaque items does not
care, and what comes after it runs over thousands of contiguous elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from npu_runtime.kernels.threads.parallel import scratch
from npu_runtime.kernels.threads.row_indexing import as_items
from npu_runtime.kernels.windows.windows import Axis


@dataclass(frozen=True)
class Tap:
    """One tap of a window along an array axis: the outputs at index `outputs` read `phase` of the inputs at index `inputs`.

    is_whole: it does so for every output.  is_alone: no tap before reads that phase, and this one reads all of it.
    """

    phase: int
    outputs: tuple[slice, ...]
    inputs: tuple[slice, ...]
    is_whole: bool
    is_alone: bool


@lru_cache(maxsize=256)
def phase_taps(axis: Axis, place: int) -> list[Tap]:
    """The taps that reach into the image, in order.  place: of the axis in arrays of inputs and outputs."""
    found: list[Tap] = []
    before = (slice(None),) * place
    for index in range(axis.kernel):
        outputs, inputs = axis.tap(index, 0, axis.out)
        n = outputs.stop - outputs.start
        if n > 0:
            position, phase = divmod(inputs.start, axis.stride)
            is_alone = n == -(-(axis.extent - phase) // axis.stride) and phase not in [tap.phase for tap in found]
            there = slice(position, position + n)
            found.append(Tap(phase, (*before, outputs), (*before, there), n == axis.out, is_alone))
    return found


def split_rows(x: np.ndarray, stride: int) -> list[np.ndarray]:
    """Every stride-th row from each of the first ones on.  x: (N, rows, columns, channels)."""
    return [x[:, phase::stride] for phase in range(stride)]


def copy_pixels(x: np.ndarray, out: np.ndarray) -> None:
    """out = x, of the same type.  x, out: (..., columns, channels), repeated or skipping columns."""
    if all(v.strides[-1] == v.itemsize for v in (x, out)) and out.size:
        np.copyto(as_items(out), as_items(x))
    else:
        np.copyto(out, x)


def split_columns(x: np.ndarray, stride: int, name: str) -> list[np.ndarray]:
    """Every stride-th column from each of the first ones on, in scratch memory `name`.  x: (N, rows, columns, channels)."""
    if stride == 1:
        return [x]
    made = []
    for phase in range(stride):
        part = x[:, :, phase::stride]
        made.append(scratch(f"{name} {phase}", part.shape, x.dtype))
        copy_pixels(part, made[-1])
    return made


def join_columns(phases: Sequence[np.ndarray], out: np.ndarray) -> None:
    """The opposite of `split_columns`: every phase to its columns of out."""
    for phase, part in enumerate(phases):
        copy_pixels(part, out[:, :, phase :: len(phases)])


def repeat_columns(x: np.ndarray, times: int, name: str) -> np.ndarray:
    """Every column `times` times, in scratch memory `name`.

    x: (N, rows, columns, channels) contiguous.  Returns: (N, rows, 1, columns * times * channels).
    """
    n_images, n_rows, n_columns, channels = x.shape
    made = scratch(name, (n_images, n_rows, n_columns, times, channels), x.dtype)
    copy_pixels(x[:, :, :, None], made)
    return made.reshape(n_images, n_rows, 1, n_columns * times * channels)
