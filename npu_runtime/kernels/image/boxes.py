"""Boxes with scores: the best ones that do not cover each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.cost.work import per_input_element
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.variable_access import shape_text

Array = np.ndarray
WIDE = {"T": frozenset({"float32"}), "T_threshold": frozenset({"float32"})}
SCALARS = {"max_output_size": 0, "iou_threshold": 0, "score_threshold": 0}
"""Ranks of what limits a selection."""
GROUP = 128
"""Boxes that are chosen among each other at a time."""
COMPARED_AT_ONCE = 1 << 15
"""Pairs of a chosen box and a waiting one that are compared at once: as many as stay in a core's cache."""


def _some(*specs: Spec, **attrs: Any) -> Shape:
    return (None,)


@kernel(
    "NonMaxSuppression", unit="vector", shape=_some, dtypes=dt.ALL, estimate=per_input_element(10), ranks={"max_output_size": 0}
)
def non_max_suppression(boxes: Array, scores: Array, max_output_size: Array, /, *, iou_threshold: float = 0.5) -> Array:
    """As V3 with an attribute for the threshold.  Source: TensorFlow op `NonMaxSuppression`."""
    return _select(boxes, scores, int(max_output_size), np.float32(iou_threshold), np.float32(-np.inf))


@kernel(
    "NonMaxSuppressionV2",
    unit="vector",
    shape=_some,
    dtypes=WIDE,
    estimate=per_input_element(10),
    ranks={"max_output_size": 0, "iou_threshold": 0},
)
def non_max_suppression_v2(boxes: Array, scores: Array, max_output_size: Array, iou_threshold: Array, /) -> Array:
    """As V3 without a lowest score.  Source: TensorFlow op `NonMaxSuppressionV2`."""
    return _select(boxes, scores, int(max_output_size), iou_threshold, np.float32(-np.inf))


@kernel(
    "NonMaxSuppressionV3",
    unit="vector",
    shape=_some,
    dtypes=WIDE,
    estimate=per_input_element(10),
    ranks=SCALARS,
)
def non_max_suppression_v3(
    boxes: Array, scores: Array, max_output_size: Array, iou_threshold: Array, score_threshold: Array, /
) -> Array:
    """Numbers of at most max_output_size boxes, best score first: () -> (n,) int32.

    boxes: (N, 4), two opposite corners y, x, y, x.  scores: (N,).  A box is left out when its score is not above
    score_threshold or its intersection over union with a better one that stays is above iou_threshold.
    Source: TensorFlow op `NonMaxSuppressionV3`.
    """
    return _select(boxes, scores, int(max_output_size), iou_threshold, score_threshold)


def _select(boxes: Array, scores: Array, limit: int, iou_threshold: Any, score_threshold: Any) -> Array:
    _check(boxes, scores, float(iou_threshold), limit)
    best = np.flatnonzero(scores > score_threshold)
    best = best[np.argsort(-scores[best], kind="stable")]
    corners = _corners(boxes[best])
    waiting, chosen = np.arange(len(best)), np.zeros(0, np.int64)
    while waiting.size and len(chosen) < limit:  # each choice depends on those before it
        n_compared = max(GROUP, COMPARED_AT_ONCE // max(1, len(chosen)))
        free = waiting[:n_compared]
        if chosen.size:
            covered = _covers(corners[:, chosen, None], corners[:, None, free], iou_threshold)
            free = free[~covered.any(axis=0)]
        waiting = np.concatenate([free[GROUP:], waiting[n_compared:]])
        group = free[:GROUP]
        kept = _apart(_covers(corners[:, group, None], corners[:, None, group], iou_threshold))
        chosen = np.concatenate([chosen, group[kept]])
    return best[chosen[:limit]].astype(np.int32)


def _covers(one: Array, others: Array, iou_threshold: Any) -> Array:
    return ~(_overlap(one, others) <= iou_threshold)


def _apart(covers: Array) -> list[int]:
    """Boxes that no better one covers, best first.  covers: (n, n), whether one covers another."""
    kept: list[int] = []
    gone = 0
    for box, row in enumerate(np.packbits(covers, axis=1, bitorder="little")):
        if not gone >> box & 1:
            kept.append(box)
            gone |= int.from_bytes(row.tobytes(), "little")
    return kept


def _check(boxes: Array, scores: Array, iou_threshold: float, limit: int) -> None:
    check_limit(limit)
    if not 0 <= iou_threshold <= 1:
        raise InvalidArgument("iou_threshold must be in [0, 1]")
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        raise InvalidArgument(f"boxes must be 2-D with 4 columns, got shape {shape_text(boxes.shape)}")
    if scores.shape != boxes.shape[:1]:
        raise InvalidArgument(f"scores has incompatible shape {shape_text(scores.shape)} for {boxes.shape[0]} boxes")


def check_limit(limit: int) -> None:
    """Raises: InvalidArgument for a number of boxes below 0."""
    if limit < 0:
        raise InvalidArgument("output size must be non-negative")


def _corners(boxes: Array) -> Array:
    """(5, n): low y, low x, high y, high x and area of boxes (n, 4)."""
    low, high = np.minimum(boxes[:, :2], boxes[:, 2:]), np.maximum(boxes[:, :2], boxes[:, 2:])
    return np.concatenate([low.T, high.T, np.prod(high - low, axis=1)[None]])


def _overlap(one: Array, others: Array) -> Array:
    """Intersection over union of boxes given by corners that go together; 0 where a box has no area."""
    common = _reach(one[0], one[2], others[0], others[2])
    common *= _reach(one[1], one[3], others[1], others[3])
    union = one[4] + others[4]
    union -= common
    with np.errstate(all="ignore"):
        common /= union
    has_area = (one[4] > 0) & (others[4] > 0)
    return common if has_area.all() else np.where(has_area, common, np.float32(0))


def _reach(low: Array, high: Array, other_low: Array, other_high: Array) -> Array:
    """The length of the intersection of two ranges, at least 0."""
    made = np.minimum(high, other_high)
    made -= np.maximum(low, other_low)
    return np.maximum(made, np.float32(0), out=made)
