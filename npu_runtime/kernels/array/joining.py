"""Joining tensors and taking them apart: Concat, Split, Pack, Unpack."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.shapes import constant_ints, merge
from npu_runtime.kernels.threads.parallel import parallel_ranges
from npu_runtime.kernels.variable_access import shape_text

Outputs = np.ndarray | tuple[np.ndarray | None, ...] | None
SMALL_COPY = 1 << 17
"""Elements up to which a copy is made on one thread."""


def buffers(out: Outputs, shapes: Sequence[Sequence[int]], dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """The planned buffers of all outputs, new arrays where there is none."""
    given = out if isinstance(out, tuple) else (out,) if out is not None else (None,) * len(shapes)
    return tuple(np.empty(shape, dtype) if b is None else b for b, shape in zip(given, shapes, strict=True))


def copy_rows(target: np.ndarray, source: np.ndarray) -> None:
    """Copy between arrays of one shape, large ones by pieces of the first axis side by side."""
    if target.size <= SMALL_COPY or target.shape[0] < 2:
        np.copyto(target, source)
        return
    grain = max(1, (1 << 16) * target.shape[0] // target.size)
    parallel_ranges(target.shape[0], lambda start, stop: np.copyto(target[start:stop], source[start:stop]), grain)


def taken(view: np.ndarray, out: np.ndarray | None) -> np.ndarray:
    """The elements of a view in `out`, or in an array of their own."""
    if out is None and view.size <= SMALL_COPY:
        return view.copy()
    made = np.empty(view.shape, view.dtype) if out is None else out
    copy_rows(made, view)
    return made


def axis_in(rank: int, axis: int, message: str) -> int:
    """The axis counted from the front. Raises: InvalidArgument with the message when it is outside the rank."""
    if not -rank <= axis < rank:
        raise InvalidArgument(message.format(low=-rank, high=rank, axis=axis))
    return axis % rank


_CONCAT = "ConcatOp : Expected concatenating dimensions in the range [{low}, {high}), but got {axis}"
_SPLIT = "-input rank({low}) <= split_dim < input rank ({high}), but got {axis}"
_PACK = "axis = {axis} not in [{low}, {high})"


def _concat_shape(values: Sequence[Spec], axis: Spec) -> Shape:
    ranks = {v.rank for v in values if v.rank is not None}
    place = constant_ints(axis)
    if len(ranks) != 1:
        return None
    rank = ranks.pop()
    if place is None:
        return (None,) * rank
    if not rank or len(place) != 1:
        return None  # which the kernel refuses
    at = axis_in(rank, place[0], _CONCAT)
    shape: Shape = (None,) * rank
    for v in values:
        shape = merge(shape, v.shape)
    extents = [None if v.shape is None else v.shape[at] for v in values]
    total = None if None in extents else sum(n for n in extents if n is not None)
    return (*(shape or ())[:at], total, *(shape or ())[at + 1 :])


def _concat(values: Sequence[np.ndarray], axis: np.ndarray, out: np.ndarray | None) -> np.ndarray:
    if axis.ndim and axis.shape != (1,):  # a vector of one is taken for a scalar, as long as TensorFlow has done
        raise InvalidArgument(f"axis tensor should be a scalar integer, but got shape {shape_text(axis.shape)}")
    if values[0].ndim == 0:
        raise InvalidArgument("ConcatOp : Can't concatenate scalars (use tf.stack instead)")
    at = axis_in(values[0].ndim, axis.item(), _CONCAT)
    try:
        return np.concatenate(values, at, out)
    except ValueError:
        _check_concat(values, at)
        raise


def _check_concat(values: Sequence[np.ndarray], at: int) -> None:
    """Raises: InvalidArgument as TensorFlow does for shapes that differ elsewhere than along the axis `at`."""
    first = values[0]
    for k, v in enumerate(values):
        shapes = f"shape[0] = {shape_text(first.shape)} vs. shape[{k}] = {shape_text(v.shape)}"
        if v.ndim != first.ndim:
            raise InvalidArgument(f"ConcatOp : Ranks of all input tensors should match: {shapes}")
        for odd in range(v.ndim):
            if odd != at and v.shape[odd] != first.shape[odd]:
                raise InvalidArgument(f"ConcatOp : Dimension {odd} in both shapes must be equal: {shapes}")


def _concat_v2_shape(*specs: Spec) -> Shape:
    return _concat_shape(specs[:-1], specs[-1])


@kernel("ConcatV2", unit="memory", shape=_concat_v2_shape, dtypes=dt.MOVED)
def concat_v2(*inputs: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """All inputs but the last one after the other along the axis that is the last input.

    Raises: InvalidArgument when shapes differ elsewhere.  Source: TensorFlow op `ConcatV2`.
    """
    return _concat(inputs[:-1], inputs[-1], out)


def _concat_v1_shape(*specs: Spec) -> Shape:
    return _concat_shape(specs[1:], specs[0])


@kernel("Concat", unit="memory", shape=_concat_v1_shape)
def concat(axis: np.ndarray, *values: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """As `ConcatV2`, the axis first. Source: TensorFlow op `Concat`."""
    return _concat(values, axis, out)


def _cut(value: np.ndarray, axis: int, sizes: Sequence[int], out: Outputs) -> tuple[np.ndarray, ...]:
    before = (slice(None),) * axis
    parts = [(*before, slice(end - n, end)) for n, end in zip(sizes, itertools.accumulate(sizes), strict=True)]
    views = [value[part] for part in parts]
    if out is None and value.size <= SMALL_COPY:
        return tuple([view.copy() for view in views])
    made = buffers(out, [view.shape for view in views], value.dtype)
    for piece, view in zip(made, views, strict=True):
        copy_rows(piece, view)
    return made


def _split_shape(split_dim: Spec, value: Spec, *, num_split: int) -> list[Shape]:
    axis = constant_ints(split_dim)
    if value.shape is None or axis is None:
        return [None if value.rank is None else (None,) * value.rank] * num_split
    at = axis_in(len(value.shape), axis[0], _SPLIT)
    extent = value.shape[at]
    part = None if extent is None else extent // num_split
    return [(*value.shape[:at], part, *value.shape[at + 1 :])] * num_split


def _small_split(
    inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: Mapping[str, Any], is_planned: bool
) -> Callable[..., Any] | None:
    """See `base.Small`: the places of all parts are known."""
    split_dim, value = inputs
    if split_dim.value is None or split_dim.rank or len(outputs) < 2 or not 0 < math.prod(value.known_shape()) <= SMALL_COPY:
        return None
    axis = axis_in(value.rank or 0, int(split_dim.value), _SPLIT)
    known, size, before = value.known_shape(), outputs[0].known_shape()[axis], (slice(None),) * axis
    parts = [(*before, slice(first, first + size)) for first in range(0, size * len(outputs), size)]

    def new(split_dim: np.ndarray, value: np.ndarray) -> tuple[np.ndarray, ...]:
        if value.shape != known:  # a ref variable may have been given another shape
            return split(split_dim, value, num_split=len(parts))
        return tuple([value[part].copy() for part in parts])

    def planned(split_dim: np.ndarray, value: np.ndarray, out: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
        if value.shape != known:
            return split(split_dim, value, num_split=len(parts), out=out)
        for target, part in zip(out, parts, strict=True):
            target[...] = value[part]
        return out

    return planned if is_planned else new


@kernel("Split", unit="memory", shape=_split_shape, dtypes=dt.MOVED, small=_small_split)
def split(split_dim: np.ndarray, value: np.ndarray, /, *, num_split: int, out: Outputs = None) -> tuple[np.ndarray, ...]:
    """Equal parts along an axis.

    Raises: InvalidArgument when the extent cannot be divided by num_split.  Source: TensorFlow op `Split`.
    """
    if split_dim.ndim:
        raise InvalidArgument(f"split_dim must be a scalar but has rank {split_dim.ndim}")
    axis = axis_in(value.ndim, int(split_dim), _SPLIT)
    if value.shape[axis] % num_split:
        raise InvalidArgument(
            f"Number of ways to split should evenly divide the split dimension, but got split_dim {axis} "
            f"(size = {value.shape[axis]}) and num_split {num_split}"
        )
    return _cut(value, axis, [value.shape[axis] // num_split] * num_split, out)


def _sizes(extent: int, wanted: Sequence[int]) -> list[int]:
    """The sizes, a single -1 replaced by what remains."""
    if list(wanted).count(-1) > 1:
        raise InvalidArgument("There can only be one -1 in the input.")
    given = sum(n for n in wanted if n != -1)
    rest = extent - given
    if rest < 0 or (rest and -1 not in wanted):
        raise InvalidArgument(
            "Determined shape must either match input shape along split_dim exactly if fully specified, or be less than the "
            f"size of the input along split_dim if not fully specified.  Got: {given}"
        )
    for k, n in enumerate(wanted):
        if n < -1:
            raise InvalidArgument(f"Split size at index {k} must be >= 0. Got: {n}")
    return [rest if n == -1 else n for n in wanted]


def _require_sizes(rank: int, n: int, num_split: int) -> None:
    if rank != 1 or n != num_split:
        raise InvalidArgument(
            f"size of the split_tensor must be 1-D and have the same elements as outputs got {rank} -D and {n} elements"
        )


def _split_v_shape(value: Spec, size_splits: Spec, split_dim: Spec, *, num_split: int) -> list[Shape]:
    if num_split == 1:
        return [value.shape]
    axis, sizes = constant_ints(split_dim), constant_ints(size_splits)
    if value.shape is None or axis is None:
        return [None if value.rank is None else (None,) * value.rank] * num_split
    at = axis_in(len(value.shape), axis[0], _SPLIT)
    extent = value.shape[at]
    parts: list[int | None] = [None] * num_split
    if sizes is not None:
        _require_sizes(size_splits.rank or 0, len(sizes), num_split)
        parts = [None if n == -1 else n for n in sizes] if extent is None else list(_sizes(extent, sizes))
    return [(*value.shape[:at], n, *value.shape[at + 1 :]) for n in parts]


@kernel("SplitV", unit="memory", shape=_split_v_shape, dtypes=dt.MOVED)
def split_v(
    value: np.ndarray, size_splits: np.ndarray, split_dim: np.ndarray, /, *, num_split: int, out: Outputs = None
) -> tuple[np.ndarray, ...]:
    """Parts of given sizes along an axis; one size may be -1: what remains.

    Raises: InvalidArgument when the sizes do not add up to the extent.  Source: TensorFlow op `SplitV`.
    One part is the value, whatever size and axis say: sessions make that node an Identity before its kernel could look at them
    (core/grappler/optimizers/constant_folding.cc, RemoveSplitOrSplitV).
    """
    if num_split == 1:
        return _cut(value, 0, [len(value)], out) if value.ndim else (np.array(value),)
    axis = axis_in(value.ndim, int(split_dim), _SPLIT)
    _require_sizes(size_splits.ndim, size_splits.size, num_split)
    return _cut(value, axis, _sizes(value.shape[axis], size_splits.tolist()), out)


def _pack_shape(*values: Spec, axis: int = 0) -> Shape:
    shape: Shape = None
    for v in values:
        shape = merge(shape, v.shape)
    if shape is None:
        return None
    at = axis_in(len(shape) + 1, axis, _PACK)
    return (*shape[:at], len(values), *shape[at:])


@kernel("Pack", unit="memory", shape=_pack_shape, dtypes=dt.MOVED)
def pack(*values: np.ndarray, axis: int = 0, out: np.ndarray | None = None) -> np.ndarray:
    """Tensors of one shape side by side along a new axis.

    Raises: InvalidArgument when shapes differ.  Source: TensorFlow op `Pack`.
    """
    for k, v in enumerate(values):
        if v.shape != values[0].shape:
            raise InvalidArgument(
                f"Shapes of all inputs must match: values[0].shape = {shape_text(values[0].shape)} "
                f"!= values[{k}].shape = {shape_text(v.shape)}"
            )
    at = axis_in(values[0].ndim + 1, axis, _PACK)
    longer = (*[slice(None)] * at, None)
    return np.concatenate([v[longer] for v in values], axis=at, out=out)


def _unpack_shape(value: Spec, *, num: int, axis: int = 0) -> list[Shape]:
    if value.shape is None:
        return [None] * num
    at = axis_in(len(value.shape), axis, _PACK)
    return [(*value.shape[:at], *value.shape[at + 1 :])] * num


@kernel("Unpack", unit="memory", shape=_unpack_shape, dtypes=dt.MOVED)
def unpack(value: np.ndarray, /, *, num: int, axis: int = 0, out: Outputs = None) -> tuple[np.ndarray, ...]:
    """The slices along an axis, without it.

    num: the extent of the axis.  Raises: InvalidArgument when it is not.  Source: TensorFlow op `Unpack`.
    """
    at = axis_in(value.ndim, axis, _PACK)
    if value.shape[at] != num:
        raise InvalidArgument(f"Input shape axis {at} must equal {num}, got shape {shape_text(value.shape)}")
    made = buffers(out, [(*value.shape[:at], *value.shape[at + 1 :])] * num, value.dtype)
    for piece, part in zip(made, np.moveaxis(value, at, 0), strict=True):
        np.copyto(piece, part)
    return made
