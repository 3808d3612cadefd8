"""Pad with a value or with mirrored elements, and the gradient of the latter."""

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
from npu_runtime.kernels.shapes import constant_ints
from npu_runtime.kernels.threads.parallel import parallel_ranges
from npu_runtime.kernels.threads.tiling import NARROW
from npu_runtime.kernels.variable_access import shape_text

GRAIN = 1 << 17
"""Elements of one piece of work, the least that is worth a thread's time: 60 us, where a worker takes 40 to begin and to end."""
TYPES = {"T": dt.ALL, "Tpaddings": dt.INDICES}


def _padded_shape(x: Spec, paddings: Spec, *others: Spec, mode: str = "") -> Shape:
    return _changed(x, paddings, 1)


def _changed(x: Spec, paddings: Spec, sign: int) -> Shape:
    if x.shape is None:
        n = paddings.shape[0] if paddings.shape else None
        return None if n is None else (None,) * n
    flat = constant_ints(Spec(None, paddings.dtype, None if paddings.value is None else paddings.value.reshape(-1)))
    if flat is None:
        return (None,) * len(x.shape)
    return tuple(None if n is None else n + sign * (flat[2 * a] + flat[2 * a + 1]) for a, n in enumerate(x.shape))


def _pairs(paddings: np.ndarray, shape: Sequence[int]) -> list[tuple[int, int]]:
    """(before, after) of each axis. Raises: InvalidArgument for another number of axes, or a negative padding."""
    if paddings.ndim != 2 or paddings.shape[1] != 2:
        raise InvalidArgument(f"paddings must be a matrix with 2 columns: {shape_text(paddings.shape)}")
    if paddings.shape[0] != len(shape):
        texts = f"{shape_text(paddings.shape)} {shape_text(shape)}"
        raise InvalidArgument(f"The first dimension of paddings must be the rank of inputs{texts}")
    pairs = [(int(before), int(after)) for before, after in paddings]
    for before, after in pairs:
        if before < 0 or after < 0:
            raise InvalidArgument(f"Paddings must be non-negative: {before} {after}")
    return pairs


def _pad(x: np.ndarray, paddings: np.ndarray, value: np.ndarray | int, out: np.ndarray | None) -> np.ndarray:
    pairs = _pairs(paddings, x.shape)
    shape = [n + before + after for n, (before, after) in zip(x.shape, pairs, strict=True)]
    made = np.empty(shape, x.dtype) if out is None else out
    inside = tuple(slice(before, before + n) for n, (before, _) in zip(x.shape, pairs, strict=True))

    beside = (slice(None), *inside[1:])

    def rows(start: int, stop: int) -> None:
        made[start:stop].fill(value)
        made[start:stop][beside] = x[start:stop]

    if made.size and x.ndim and shape[0] == x.shape[0]:
        parallel_ranges(shape[0], rows, max(1, GRAIN * shape[0] // made.size))
    else:
        made.fill(value)
        made[inside] = x
    return made


def _small_pad(
    inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: Mapping[str, Any], is_planned: bool
) -> Callable[..., Any] | None:
    """See `base.Small`: few elements, with paddings that are known."""
    paddings, extents, shape = inputs[1].value, inputs[0].known_shape(), outputs[0].known_shape()
    if paddings is None or paddings.shape != (len(extents), 2) or (paddings < 0).any() or not 0 < math.prod(shape) <= GRAIN:
        return None
    dtype = dt.to_numpy(outputs[0].dtype)
    starts = paddings[:, 0].tolist()
    inside = tuple(slice(first, first + n) for first, n in zip(starts, extents, strict=True))

    def run(x: np.ndarray, paddings: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        if x.shape != extents:  # a ref variable may have been given another shape
            return pad(x, paddings, out=out)
        made = np.empty(shape, dtype) if out is None else out
        made.fill(0)
        made[inside] = x
        return made

    return run


@kernel("Pad", unit="memory", shape=_padded_shape, dtypes=TYPES, small=_small_pad)
def pad(x: np.ndarray, paddings: np.ndarray, /, *, out: np.ndarray | None = None) -> np.ndarray:
    """Zeros before and after along each axis.

    paddings: (rank, 2) int32|int64.  Raises: InvalidArgument for a negative padding.  Source: TensorFlow op `Pad`.
    """
    return _pad(x, paddings, 0, out)


@kernel("PadV2", unit="memory", shape=_padded_shape, dtypes=TYPES, ranks={"constant_values": 0})
def pad_with(x: np.ndarray, paddings: np.ndarray, constant_values: np.ndarray, /, *, out: np.ndarray | None = None) -> np.ndarray:
    """As `Pad`, with a scalar of x's type in the place of zero. Source: TensorFlow op `PadV2`."""
    return _pad(x, paddings, constant_values[()], out)


def _mirror_index(n: int, before: int, after: int, mode: str) -> np.ndarray:
    """The index of the input element at each position of the result.  Raises: InvalidArgument for a padding that is too long."""
    offset = 1 if mode == "REFLECT" else 0
    if max(before, after) > n - offset:
        limit, fault = ("less than", "not less than") if offset else ("no greater than", "greater than")
        raise InvalidArgument(f"paddings must be {limit} the dimension size: {before}, {after} {fault} {n}")
    return np.concatenate([np.arange(before)[::-1] + offset, np.arange(n), n - 1 - offset - np.arange(after)])


@kernel("MirrorPad", unit="memory", shape=_padded_shape, dtypes=TYPES)
def mirror_pad(x: np.ndarray, paddings: np.ndarray, /, *, mode: str, out: np.ndarray | None = None) -> np.ndarray:
    """The elements near each edge again, mirrored at it.

    mode: "REFLECT" (the edge itself once) or "SYMMETRIC" (twice).  Raises: InvalidArgument for more than there is.
    Source: TensorFlow op `MirrorPad`.
    """
    pairs = _pairs(paddings, x.shape)
    made = x
    for axis, (before, after) in enumerate(pairs):
        index = _mirror_index(x.shape[axis], before, after, mode)
        if before or after:
            made = np.take(made, index, axis=axis)
    if out is not None:
        np.copyto(out, made)
        return out
    return made.copy() if made is x else made


def _unpadded_shape(x: Spec, paddings: Spec, *, mode: str = "") -> Shape:
    return _changed(x, paddings, -1)


GRADIENT_TYPES = {"T": dt.NUMBERS, "Tpaddings": dt.INDICES}


@kernel("MirrorPadGrad", unit="vector", shape=_unpadded_shape, dtypes=GRADIENT_TYPES, estimate=per_input_element(1))
def mirror_pad_grad(x: np.ndarray, paddings: np.ndarray, /, *, mode: str, out: np.ndarray | None = None) -> np.ndarray:
    """The gradient of `MirrorPad`: what lies in the padding is added where it was copied from.

    Raises: InvalidArgument for more padding than there is.  Source: TensorFlow op `MirrorPadGrad`.
    """
    offset = 1 if mode == "REFLECT" else 0
    total = x.astype(np.float32) if x.dtype in NARROW else x.copy()
    for axis, (before, after) in enumerate(_pairs(paddings, x.shape)):
        whole = np.moveaxis(total, axis, 0)
        n = whole.shape[0] - before - after
        _mirror_index(n, before, after, mode)
        middle = whole[before : before + n]
        middle[offset : offset + before] += whole[:before][::-1]
        middle[n - offset - after : n - offset] += whole[before + n :][::-1]
        total = np.moveaxis(middle, 0, axis)
    made = np.empty(total.shape, x.dtype) if out is None else out
    np.copyto(made, total, casting="unsafe")
    return made
