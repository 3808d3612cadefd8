"""Slices with every mask, and the gradient of each."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.kernels.harness import Case, arr, case, i32, scalar

X = arr(4, 5, 6)
NOTHING = np.zeros(0, np.int32)


def _index_of(*entries: Any) -> dict[str, Any]:
    """begin, end, strides and masks as Python's tf.Tensor.__getitem__ makes them."""
    made: dict[str, Any] = {"begin": [], "end": [], "strides": []}
    masks = dict.fromkeys(("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"), 0)
    for i, entry in enumerate(entries):
        begin, end, stride = 0, 0, 1
        if entry is None:
            masks["new_axis_mask"] |= 1 << i
        elif entry is Ellipsis:
            masks["ellipsis_mask"] |= 1 << i
        elif isinstance(entry, int):
            begin, end = entry, entry + 1
            masks["shrink_axis_mask"] |= 1 << i
        else:
            masks["begin_mask"] |= (entry.start is None) << i
            masks["end_mask"] |= (entry.stop is None) << i
            begin, end, stride = entry.start or 0, entry.stop or 0, entry.step or 1
        for key, value in zip(("begin", "end", "strides"), (begin, end, stride), strict=True):
            made[key].append(value)
    return {key: np.array(value, np.int32) for key, value in made.items()} | masks


INDICES = [
    (slice(1, 3),), (slice(None), slice(1, 4)), (slice(None, None, 2), slice(None, None, -1)), (slice(-3, -1), slice(4, 0, -2)),
    (0,), (-1, 2), (slice(None), 3), (Ellipsis, 0), (Ellipsis, slice(1, 3)), (1, Ellipsis, slice(2)), (None,),
    (slice(2), None, 1),
    (Ellipsis, None), (None, Ellipsis, None, 2), (slice(2, 2),), (slice(3, 100), slice(-100, 2)),
    (0, 0, 0), (slice(None),) * 3, (Ellipsis,), (slice(None), Ellipsis, slice(None, None, 3)),
    (slice(10, 0, -1),), (slice(0, 1), slice(0, 2), slice(3, 6)),
]  # fmt: skip


def _slice(x: np.ndarray, *entries: Any, **more: Any) -> Case:
    index = _index_of(*entries)
    return case("StridedSlice", x, index.pop("begin"), index.pop("end"), index.pop("strides"), **index, **more)


def _gradient(*entries: Any, dtype: str = "float32") -> Case:
    index = _index_of(*entries)
    dy = arr(*X[entries].shape, dtype=dtype)
    return case("StridedSliceGrad", i32(4, 5, 6), index.pop("begin"), index.pop("end"), index.pop("strides"), dy, **index)


CASES = [
    case("Slice", X, i32(1, 0, 2), i32(2, 5, 3)),
    case("Slice", X, i32(1, 2, 3), i32(-1, -1, -1)),
    case("Slice", X, i32(4, 0, 0), i32(0, 5, 6), id="empty"),
    case("Slice", arr(7, dtype="int32"), np.array([2], np.int64), np.array([3], np.int64)),
    case("Slice", arr(3, 4, dtype="bool"), i32(0, 1), i32(3, 2)),
    case("Slice", arr(7, dtype="uint64"), i32(2), i32(3), id="keys"),
    _slice(arr(5, dtype="uint64"), slice(1, None, 2), id="keys"),
    case("Slice", scalar(1.0), NOTHING, NOTHING),
    case("Slice", arr(700, 600), i32(10, 20), i32(600, 500), id="large"),
    *[_slice(X, *entries, id=f"index{k}") for k, entries in enumerate(INDICES)],
    *[_slice(arr(3, 4, dtype=t), slice(1, 3), -1, id=t) for t in ("bool", "int64", "float16", "bfloat16")],
    _slice(arr(5, dtype="int32"), 2, id="scalar"),
    _slice(arr(700, 600), slice(None), slice(None, None, 2), id="large"),
    _slice(scalar(2.0), None, id="scalar-new"),
    case("StridedSlice", arr(5), np.array([1], np.int64), np.array([4], np.int64), np.array([2], np.int64)),
    case("StridedSlice", arr(5), NOTHING, NOTHING, NOTHING, id="no-index"),
    case("StridedSlice", arr(5, 4), i32(2, 1), i32(0, 0), i32(1, 1), shrink_axis_mask=3, begin_mask=1, end_mask=2, id="shrink"),
    *[_gradient(*entries) for entries in INDICES],
    _gradient(slice(1, 3), 2, dtype="bfloat16"),
    _gradient(slice(1, 3), 2, dtype="int32"),
]
