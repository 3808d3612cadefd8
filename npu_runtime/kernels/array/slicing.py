"""Cutting parts out of tensors: Slice, StridedSlice with all its masks, and its gradient.

Source: TensorFlow's core/util/strided_slice_op.cc for the meaning of the masks and what wins where they overlap.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.array.joining import taken
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.shapes import constant_ints
from npu_runtime.kernels.variable_access import shape_text

WHOLE = slice(None)


def _slice_shape(x: Spec, begin: Spec, size: Spec) -> Shape:
    starts, sizes = constant_ints(begin), constant_ints(size)
    rank = x.rank if x.rank is not None else begin.shape[0] if begin.shape else None
    if rank is None or sizes is None:
        return None if rank is None else (None,) * rank
    extents = x.shape or (None,) * rank
    return tuple(n if n != -1 else _rest(extents[axis], None if starts is None else starts[axis]) for axis, n in enumerate(sizes))


def _rest(extent: int | None, start: int | None) -> int | None:
    return None if extent is None or start is None else extent - start


def _small_slice(
    inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: Mapping[str, Any], is_planned: bool
) -> Callable[..., Any] | None:
    """See `base.Small`: the part is known, and known to be inside."""
    starts, shape, extents = constant_ints(inputs[1]), outputs[0].known_shape(), inputs[0].known_shape()
    if starts is None or constant_ints(inputs[2]) is None or len(starts) != len(extents) or len(shape) != len(extents):
        return None
    if any(first < 0 or first + n > extent for first, n, extent in zip(starts, shape, extents, strict=True)):
        return None
    index: Any = (*(slice(first, first + n) for first, n in zip(starts, shape, strict=True)), ...)

    def run(x: np.ndarray, begin: np.ndarray, size: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        return taken(x[index], out) if x.shape == extents else slice_of(x, begin, size, out=out)

    return run


@kernel("Slice", unit="memory", shape=_slice_shape, dtypes=dt.MOVED, small=_small_slice)
def slice_of(x: np.ndarray, begin: np.ndarray, size: np.ndarray, /, *, out: np.ndarray | None = None) -> np.ndarray:
    """`size` elements from `begin` on along each axis; size -1: all that follow.

    begin, size: (rank,) int32|int64.  Raises: InvalidArgument for a part outside of x.  Source: TensorFlow op `Slice`.
    """
    starts, sizes = begin.tolist(), size.tolist()
    if not len(starts) == len(sizes) == x.ndim:
        raise InvalidArgument(
            f"Expected begin and size arguments to be 1-D tensors of size {x.ndim}, "
            f"but got shapes [{len(starts)}] and [{len(sizes)}] instead."
        )
    index: list[Any] = []
    for axis, extent in enumerate(x.shape):
        first, n = starts[axis], sizes[axis]
        if n == -1:
            n = extent - first
        if not 0 <= first <= extent:
            raise InvalidArgument(f"Expected begin[{axis}] in [0, {extent}], but got {first}")
        if not 0 <= n <= extent - first:
            raise InvalidArgument(f"Expected size[{axis}] in [0, {extent - first}], but got {n}")
        index.append(slice(first, first + n))
    index.append(...)  # so that there is an array for rank 0 too
    return taken(x[tuple(index)], out)


class _Entry(NamedTuple):
    """One component of the index.  kind: "whole" axis, "new" axis, "pick" one element, "range".  place: in begin."""

    kind: str
    place: int = -1


def _plan(n_places: int, rank: int, masks: dict[str, int]) -> list[_Entry]:
    """One entry for every axis of the input and every new axis, in order.

    Raises: InvalidArgument for a second ellipsis or more indices than axes.
    """
    ellipsis, new, shrink = masks["ellipsis_mask"], masks["new_axis_mask"], masks["shrink_axis_mask"]
    if bin(ellipsis & ((1 << n_places) - 1)).count("1") > 1:
        raise InvalidArgument("Multiple ellipses in slice spec not allowed")
    has_ellipsis = bool(ellipsis & ((1 << n_places) - 1))
    n_named = sum(not (ellipsis >> i | new >> i) & 1 for i in range(n_places))
    if n_named > rank:
        raise InvalidArgument(f"Index out of range using input dim {rank}; input has only {rank} dims")
    rest = [_Entry("whole")] * (rank - n_named)
    entries: list[_Entry] = []
    for i in range(n_places):
        if ellipsis >> i & 1:
            entries += rest
        else:
            entries.append(_Entry("new" if new >> i & 1 else "pick" if shrink >> i & 1 else "range", i))
    return entries if has_ellipsis else entries + rest


def _index(
    shape: tuple[int, ...], begin: np.ndarray, end: np.ndarray, strides: np.ndarray, masks: tuple[int, ...]
) -> tuple[Any, ...]:
    """numpy's index for a strided slice of a tensor of this shape: it gives an array, not a number.  masks: as in _MASKS."""
    if not begin.shape == end.shape == strides.shape:
        shapes = f"{shape_text(begin.shape)}, {shape_text(end.shape)}, and {shape_text(strides.shape)} instead."
        raise InvalidArgument(f"Expected begin, end, and strides to be 1D equal size tensors, but got shapes {shapes}")
    return _index_by_numbers(shape, tuple(begin.tolist()), tuple(end.tolist()), tuple(strides.tolist()), masks)


@lru_cache(maxsize=4096)
def _index_by_numbers(
    shape: tuple[int, ...], begin: tuple[int, ...], end: tuple[int, ...], strides: tuple[int, ...], given: tuple[int, ...]
) -> tuple[Any, ...]:
    masks = dict(zip(_MASKS, given, strict=True))
    bounds = list(zip(begin, end, strides, strict=True))
    index: list[Any] = []
    axis = 0
    for kind, i in _plan(len(bounds), len(shape), masks):
        if kind == "new":
            index.append(None)
            continue
        if kind == "whole":
            index.append(WHOLE)
        elif kind == "pick":
            index.append(_pick(bounds[i], axis, shape[axis]))
        else:
            index.append(_range(bounds[i], i, masks))
        axis += 1
    return (*index, ...)


def _pick(bounds: tuple[int, int, int], axis: int, extent: int) -> int:
    begin, _, stride = bounds
    if stride <= 0:
        raise InvalidArgument("only stride 1 allowed on non-range indexing.")
    if not -extent <= begin < extent:
        raise InvalidArgument(f"slice index {begin} of dimension {axis} out of bounds.")
    return begin


def _range(bounds: tuple[int, int, int], i: int, masks: dict[str, int]) -> slice:
    begin, end, stride = bounds
    if stride == 0:
        raise InvalidArgument(f"strides[{i}] must be non-zero")
    return slice(None if masks["begin_mask"] >> i & 1 else begin, None if masks["end_mask"] >> i & 1 else end, stride)


def _strided_slice_shape(x: Spec, begin: Spec, end: Spec, strides: Spec, **masks: int) -> Shape:
    n_places = next((s.shape[0] for s in (begin, end, strides) if s.shape), None)
    if x.shape is None or n_places is None:
        return None
    values = [constant_ints(s) for s in (begin, end, strides)]
    shape: list[int | None] = []
    axis = 0
    for kind, i in _plan(n_places, len(x.shape), _complete(masks)):
        if kind == "new":
            shape.append(1)
            continue
        if kind == "whole":
            shape.append(x.shape[axis])
        elif kind == "range":
            shape.append(_range_length(x.shape[axis], i, values, _complete(masks)))
        axis += 1
    return tuple(shape)


def _range_length(extent: int | None, i: int, values: Sequence[Sequence[int] | None], masks: dict[str, int]) -> int | None:
    if extent is None or values[2] is None:
        return None
    bounds: list[int | None] = []
    for known, mask in zip(values[:2], ("begin_mask", "end_mask"), strict=True):
        is_masked = masks[mask] >> i & 1
        if known is None and not is_masked:
            return None
        bounds.append(None if is_masked or known is None else known[i])
    return len(range(*slice(bounds[0], bounds[1], values[2][i]).indices(extent)))


_MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")


def _complete(masks: dict[str, int]) -> dict[str, int]:
    return dict.fromkeys(_MASKS, 0) | masks


@kernel("StridedSlice", unit="memory", shape=_strided_slice_shape, dtypes=dt.MOVED)
def strided_slice(
    x: np.ndarray, begin: np.ndarray, end: np.ndarray, strides: np.ndarray, /, *,
    begin_mask: int = 0, end_mask: int = 0, ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0,
    out: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """x[begin:end:strides] with Python's meaning; bit i of a mask is about entry i of the index.

    begin_mask, end_mask: that bound is open.  ellipsis_mask: all axes not named.  new_axis_mask: a new axis of extent 1.
    shrink_axis_mask: the element at begin, without its axis.
    Raises: InvalidArgument for an index outside, a zero stride, more entries than axes.  Source: TensorFlow op `StridedSlice`.
    """
    masks = begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask
    return taken(x[_index(x.shape, begin, end, strides, masks)], out)


def _gradient_shape(shape: Spec, begin: Spec, end: Spec, strides: Spec, dy: Spec, **masks: int) -> Shape:
    known = constant_ints(shape)
    return known if known is not None else (None,) * shape.shape[0] if shape.shape and shape.shape[0] is not None else None


@kernel("StridedSliceGrad", unit="memory", shape=_gradient_shape)
def strided_slice_grad(
    shape: np.ndarray, begin: np.ndarray, end: np.ndarray, strides: np.ndarray, dy: np.ndarray, /, *,
    begin_mask: int = 0, end_mask: int = 0, ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0,
    out: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """Zeros of `shape` with dy where `StridedSlice` of the same arguments reads.

    Raises: InvalidArgument when dy has not the shape of that slice.  Source: TensorFlow op `StridedSliceGrad`.
    """
    masks = begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask
    made = np.empty(shape.tolist(), dy.dtype) if out is None else out
    made.fill(0)
    index = _index(made.shape, begin, end, strides, masks)
    if made[index].shape != dy.shape:
        raise InvalidArgument(f"shape of dy was {list(dy.shape)} instead of {list(made[index].shape)}")
    made[index] = dy
    return made
