"""Boxes with scores: the best ones that do not cover each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.cost.work import per_input_element
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.access import shape_text
from npu_runtime.kernels.base import kernel

Array = np.ndarray
WIDE = {"T": frozenset({"float32"}), "T_threshold": frozenset({"float32"})}


def _some(*specs: Spec, **attrs: Any) -> Shape:
    return (None,)


@kernel("NonMaxSuppression", unit="vector", shape=_some, dtypes=dt.ALL, estimate=per_input_element(10))
def non_max_suppression(boxes: Array, scores: Array, max_output_size: Array, /, *, iou_threshold: float = 0.5) -> Array:
    """As V3 with an attribute for the threshold.  Source: TensorFlow op `NonMaxSuppression`."""
    return _select(boxes, scores, int(max_output_size), np.float32(iou_threshold), np.float32(-np.inf))


@kernel("NonMaxSuppressionV2", unit="vector", shape=_some, dtypes=WIDE, estimate=per_input_element(10))
def non_max_suppression_v2(boxes: Array, scores: Array, max_output_size: Array, iou_threshold: Array, /) -> Array:
    """As V3 without a lowest score.  Source: TensorFlow op `NonMaxSuppressionV2`."""
    return _select(boxes, scores, int(max_output_size), iou_threshold, np.float32(-np.inf))


@kernel("NonMaxSuppressionV3", unit="vector", shape=_some, dtypes=WIDE, estimate=per_input_element(10))
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
    _check(boxes, scores, float(iou_threshold))
    order = np.argsort(-scores, kind="stable")
    waiting = order[scores[order] > score_threshold]
    low, high = np.minimum(boxes[:, :2], boxes[:, 2:]), np.maximum(boxes[:, :2], boxes[:, 2:])
    selected: list[int] = []
    while waiting.size and len(selected) < limit:  # each choice depends on those before it
        best, waiting = waiting[0], waiting[1:]
        selected.append(int(best))
        waiting = waiting[_overlap(low, high, best, waiting) <= iou_threshold]
    return np.array(selected, np.int32)


def _check(boxes: Array, scores: Array, iou_threshold: float) -> None:
    if not 0 <= iou_threshold <= 1:
        raise InvalidArgument("iou_threshold must be in [0, 1]")
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        raise InvalidArgument(f"boxes must be 2-D with 4 columns, got shape {shape_text(boxes.shape)}")
    if scores.shape != boxes.shape[:1]:
        raise InvalidArgument(f"scores has incompatible shape {shape_text(scores.shape)} for {boxes.shape[0]} boxes")


def _overlap(low: Array, high: Array, one: int, others: Array) -> Array:
    """Intersection over union of one box with others; 0 where a box has no area."""
    sides = np.maximum(np.minimum(high[one], high[others]) - np.maximum(low[one], low[others]), np.float32(0))
    common = sides[:, 0] * sides[:, 1]
    area, own = np.prod(high[others] - low[others], axis=1), np.prod(high[one] - low[one])
    has_area = (area > 0) & (own > 0)
    return np.divide(common, area + own - common, out=np.zeros_like(common), where=has_area)
